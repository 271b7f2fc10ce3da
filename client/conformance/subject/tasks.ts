import { setTimeout as sleep } from 'node:timers/promises';
import { documented } from '../contract/documented.ts';
import { jsonOf, type Target } from '../wire/answer.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { idOfTask, stateOfTask, type TaskKind } from './task-kinds.ts';
import { Unavailable } from './unavailable.ts';

/** A task that was watched to its end. */
export interface Watched {
  id: string;
  /** The last answer about it. */
  body: unknown;
  state: string;
  /** What was wrong on the way: with the answers, and with the order of the states. */
  problems: string[];
  curl: string;
}

/** Longest pause between two polls, in milliseconds. */
const longestPause = 5_000;

/** Makes tasks and waits for them. */
export class Tasks {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;

  constructor(caller: Caller, target: Target, timeoutMs: number, signal?: AbortSignal) {
    this.#caller = caller;
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /** @throws Unavailable when the server does not take it */
  async start({ create, body }: Pick<TaskKind, 'create' | 'body'>): Promise<string> {
    const { answer } = await this.#caller.send(this.#target, documented(create), { body }, 'whole', true);
    const id = answer.status === 200 ? idOfTask(jsonOf(answer)) : undefined;
    if (id === undefined)
      throw new Unavailable(`${create} makes no task: ${answer.status} ${excerpt(answer)}`);
    return id;
  }

  /** Polls a task until it is final or in one of the states, then twice more: it must stay as it is. */
  async watch(kind: TaskKind, id: string, until: readonly string[] = []): Promise<Watched> {
    const last = kind.states.length - 1;
    const rank = (state: string) => kind.states.findIndex((one) => one.includes(state));
    const problems: string[] = [];
    const deadline = performance.now() + this.#timeoutMs;
    let seen = '';
    let pause = 100;
    let more = 2;
    for (;;) {
      const path = { [kind.param]: id };
      const { answer, curl, ...told } = await this.#caller.send(this.#target, documented(kind.read), {
        path,
      });
      problems.push(...told.problems);
      if (answer.status !== 200) throw new Unavailable(`the task ${id} cannot be read: ${excerpt(answer)}`);
      const body = jsonOf(answer);
      const state = stateOfTask(body);
      if (seen !== '' && state !== seen && (rank(state) < rank(seen) || rank(seen) === last))
        problems.push(`the task went from ${seen} back to ${state}`);
      seen = state;
      if (rank(state) === last) more -= 1;
      if (more < 0 || until.includes(state)) return { id, body, state, problems, curl };
      if (performance.now() > deadline)
        throw new Unavailable(`the task ${id} is still ${state} after ${this.#timeoutMs / 1000} seconds`);
      await sleep(rank(state) === last ? 20 : pause, undefined, { signal: this.#signal });
      pause = Math.min(pause * 1.5, longestPause);
    }
  }
}
