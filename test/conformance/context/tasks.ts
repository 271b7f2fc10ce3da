import { setTimeout as sleep } from 'node:timers/promises';
import { documented } from '../contract/documented.ts';
import { jsonOf, type Target } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { idOfTask, stateOfTask, type TaskKind } from './task-kinds.ts';
import { Unavailable } from './unavailable.ts';

/** A task that ended while the kit polled it. */
export interface WatchedTask {
  id: string;
  /** Body of the last response. */
  body: unknown;
  state: string;
  /** Problems with the responses and with the order of the states. */
  problems: string[];
  curl: string;
}

/** Maximum pause between two polls, in milliseconds. */
const maxPauseMs = 5_000;

/** Creates tasks and polls them. */
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

  /** Creates a task and returns its id. @throws Unavailable when the server rejects it */
  async start({ create, body }: Pick<TaskKind, 'create' | 'body'>): Promise<string> {
    const { response } = await this.#caller.send(this.#target, documented(create), { body }, 'full', true);
    const id = response.status === 200 ? idOfTask(jsonOf(response)) : undefined;
    if (id === undefined)
      throw new Unavailable(`${create} creates no task: ${response.status} ${excerpt(response)}`);
    return id;
  }

  /**
   * Polls a task until it ends or reaches one of the states in `until`. Polls an ended task twice more, because its state
   * must not change.
   */
  async watch(kind: TaskKind, id: string, until: readonly string[] = []): Promise<WatchedTask> {
    const last = kind.states.length - 1;
    const rank = (state: string) => kind.states.findIndex((one) => one.includes(state));
    const problems: string[] = [];
    const deadline = performance.now() + this.#timeoutMs;
    let previous = '';
    let pauseMs = 100;
    let repeats = 2;
    for (;;) {
      const path = { [kind.param]: id };
      const { response, curl, ...checked } = await this.#caller.send(this.#target, documented(kind.read), {
        path,
      });
      problems.push(...checked.problems);
      if (response.status !== 200)
        throw new Unavailable(`the task ${id} cannot be read: ${excerpt(response)}`);
      const body = jsonOf(response);
      const state = stateOfTask(body);
      if (previous !== '' && state !== previous && (rank(state) < rank(previous) || rank(previous) === last))
        problems.push(`the task changed from ${previous} back to ${state}`);
      previous = state;
      if (rank(state) === last) repeats -= 1;
      if (repeats < 0 || until.includes(state)) return { id, body, state, problems, curl };
      if (performance.now() > deadline)
        throw new Unavailable(`the task ${id} is still ${state} after ${this.#timeoutMs / 1000} s`);
      await sleep(rank(state) === last ? 20 : pauseMs, undefined, { signal: this.#signal });
      pauseMs = Math.min(pauseMs * 1.5, maxPauseMs);
    }
  }
}
