import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { nativePoll, pollPath } from '../faults/poll-path.ts';
import { badCall, faultyCall, leaver, plainCall, slowReader } from './asks.ts';
import type { Callbacks } from './callbacks.ts';
import { type Ask, type Evidence, patienceMs, type SoakKey, type Told } from './evidence.ts';
import type { Node } from './node.ts';
import { speakOnSocket } from './sockets.ts';
import { taskCreation, taskEnd } from './task-asks.ts';

export interface CustomersParts {
  nodes: readonly Node[];
  evidence: Evidence;
  random: () => number;
  /** Keys with more than they can spend. */
  rich: readonly SoakKey[];
  /** Keys with little, one after the other. */
  poor: readonly SoakKey[];
  /** A key without limits, which sees the tasks of all keys of its user. */
  observer: SoakKey;
  callbacks: Callbacks;
  /** Requests a second, of all together; undefined: as fast as they are answered. */
  rate: number | undefined;
}

/** So often in a row a key is refused before it counts as empty. */
const emptyAfter = 12;
/** Of tasks that are under way no more are made. */
const mostTasks = 12;

/** Customers who ask for everything that there is, in the order that the seed gives, and note what they are told. */
export class Customers {
  readonly #parts: CustomersParts;
  #agent = new Agent();
  #poor = 0;
  #refused = 0;
  /** When the next request is due, by the monotonic clock. */
  #due = 0;

  constructor(parts: CustomersParts) {
    this.#parts = parts;
  }

  /** So many at once, for so long. Resolves when all of them have had their last answer. */
  async work(count: number, ms: number): Promise<void> {
    const until = performance.now() + ms;
    const customer = async () => {
      while (performance.now() < until) {
        await this.#turn();
        await this.#next();
      }
    };
    await Promise.all(Array.from({ length: count }, customer));
    await this.#agent.destroy();
    this.#agent = new Agent();
  }

  /** Polls what has been told until all of it has come to its end. */
  async finishTasks(ms: number): Promise<void> {
    const { openTasks } = this.#parts.evidence;
    const until = performance.now() + ms;
    while (openTasks.size > 0 && performance.now() < until) {
      for (const path of openTasks.keys()) await this.#poll(path);
      await pause(100);
    }
    await this.#agent.destroy();
    this.#agent = new Agent();
  }

  /** One request, to a certain gateway or to any. Gives the status, if it was answered whole. */
  async ask(ask: Ask, key: SoakKey, to?: Node): Promise<number | undefined> {
    const { nodes, evidence, random } = this.#parts;
    const up = nodes.filter(({ url }) => url !== undefined);
    const node = to ?? up[Math.floor(random() * up.length)];
    if (node?.url === undefined) {
      await pause(20);
      return undefined;
    }
    const { life } = node;
    const begun = performance.now();
    const leaving = ask.leaveAfterMs === undefined ? [] : [AbortSignal.timeout(ask.leaveAfterMs)];
    const late = AbortSignal.timeout(patienceMs);
    try {
      const answer = await fetch(node.url + ask.path, {
        method: ask.method,
        headers: {
          authorization: `Bearer ${key.secret}`,
          ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...ask.headers,
        },
        ...(ask.body === undefined
          ? {}
          : { body: typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body) }),
        signal: AbortSignal.any([late, ...leaving]),
        dispatcher: this.#agent,
      });
      if (ask.readsAfterMs !== undefined) await pause(ask.readsAfterMs);
      const body = await answer.text();
      evidence.took(ask.kind, performance.now() - begun);
      this.#judge(ask, key, answer, body);
      return answer.status;
    } catch (error) {
      if (leaving.some(({ aborted }) => aborted)) evidence.count(ask.kind, 'left');
      else if (node.life !== life) evidence.count(ask.kind, 'cut off by a kill');
      else if (ask.mayBreak === true && !late.aborted)
        evidence.count(ask.kind, 'broken off, as it was to be');
      else
        evidence.fault(
          ask.kind,
          `${late.aborted ? 'no answer' : 'cut off'} for no reason: ${wordsOf(error)}`,
        );
      return undefined;
    }
  }

  /** Waits for the next turn, so that all together do not ask for more than they are to. */
  async #turn(): Promise<void> {
    const { rate } = this.#parts;
    if (rate === undefined) return;
    const now = performance.now();
    this.#due = Math.max(now, this.#due + 1_000 / rate);
    if (this.#due > now) await pause(this.#due - now);
  }

  async #next(): Promise<void> {
    const { random, evidence, poor, nodes, callbacks } = this.#parts;
    const key = this.#rich();
    const dice = random();
    if (dice < 0.42) await this.ask(plainCall(random), key);
    else if (dice < 0.64) await this.#spend(poor[this.#poor]);
    else if (dice < 0.68) await this.ask(badCall(random), key);
    else if (dice < 0.72) await this.ask(faultyCall(random), key);
    else if (dice < 0.78) await this.ask(leaver(random), key);
    else if (dice < 0.79) await this.ask(slowReader(random), key);
    else if (dice < 0.85) await speakOnSocket({ nodes, random, evidence, key });
    else if (dice < 0.89 && evidence.openTasks.size < mostTasks)
      await this.ask(
        taskCreation(random, () => callbacks.hook()),
        random() < 0.5 ? key : (poor[this.#poor] ?? key),
      );
    else {
      const [path] = [...evidence.openTasks.keys()].toSorted(() => random() - 0.5);
      if (path !== undefined) await this.#poll(path);
    }
  }

  /** With a key that has little, until it has nothing. */
  async #spend(key: SoakKey | undefined): Promise<void> {
    if (key === undefined) return;
    const { random } = this.#parts;
    if (key.revoked === true) {
      this.#poor += 1;
      return;
    }
    const status = await this.ask(random() < 0.2 ? faultyCall(random) : plainCall(random), key);
    this.#refused = status === 403 ? this.#refused + 1 : 0;
    if (this.#refused < emptyAfter) return;
    this.#refused = 0;
    this.#poor += 1;
  }

  /** The key that is being spent from. */
  get inUse(): SoakKey | undefined {
    return this.#parts.poor[this.#poor];
  }

  #rich(): SoakKey {
    const { random, rich } = this.#parts;
    const key = rich[Math.floor(random() * rich.length)] ?? rich[0];
    if (key === undefined) throw new Error('there is no key');
    return key;
  }

  /** Those that were spent from. */
  get spent(): readonly SoakKey[] {
    return this.#parts.poor.slice(0, this.#poor + 1);
  }

  async #poll(path: string): Promise<void> {
    const cancels = path.startsWith(nativePoll) && this.#parts.random() < 0.05;
    const cancel = { kind: 'cancel', method: 'POST', path: `${path}/cancel`, statuses: [200, 400] } as const;
    await this.ask(cancels ? cancel : { kind: 'poll', method: 'GET', path }, this.#parts.observer);
  }

  #judge(ask: Ask, key: SoakKey, answer: { status: number; headers: HeaderSource }, body: string): void {
    const { evidence } = this.#parts;
    const { status, headers } = answer;
    const requestId = headers.get('x-request-id');
    const said = `${status} ${requestId}: ${body.slice(0, 300)}`;
    const code = /"code":"([A-Za-z_.]+)"/.exec(body)?.[1] ?? '';
    const expected = (ask.statuses ?? [200]).includes(status) || (status === 401 && key.revoked === true);
    const away = (status === 503 || status === 429) && headers.get('retry-after') !== null;
    const empty = code === 'insufficient_user_quota' || (status === 403 && body.includes('quota'));
    if (!expected && !away && !(empty && key.granted < plenty))
      return evidence.fault(ask.kind, `answered with ${said}`);
    evidence.count(ask.kind, status === 200 ? '200' : `${status} ${code}`);
    if (requestId === null) return evidence.fault(ask.kind, `an answer without x-request-id: ${said}`);
    if (ask.kind === 'poll' && status === 200) this.#noteEnd(ask.path, body);
    if (ask.body === undefined || ask.headers?.authorization !== undefined) return;
    // A task costs what it comes to; what was to fail, what the provider asks for.
    const known = status === 200 && ask.makesTask !== true && ask.mayBreak !== true;
    const costs = known ? (ask.costsOf?.(body) ?? ask.costs) : status === 200 ? undefined : 0;
    if (known && ask.costs !== undefined && costs !== ask.costs)
      evidence.fault(ask.kind, `says that it cost ${costs}, not ${ask.costs}: ${said}`);
    const logged = status === 200 && ask.makesTask !== true;
    const told = { requestId, kind: ask.kind, tokenId: key.id, status, costs, logged };
    evidence.told.push(told);
    if (status === 200 && ask.makesTask === true) this.#noteTask(ask, body, told);
  }

  #noteTask(ask: Ask, body: string, told: Told): void {
    const { evidence } = this.#parts;
    const path = pollPath(ask.path, JSON.parse(body));
    evidence.tasks += 1;
    evidence.openTasks.set(path, told);
    if (ask.hook !== undefined) evidence.hooks.set(ask.hook, path);
  }

  /** What has come to a good end is in the log, and the rest is free. */
  #noteEnd(path: string, record: string): void {
    const { openTasks } = this.#parts.evidence;
    const told = openTasks.get(path);
    const end = taskEnd(record);
    if (told === undefined || end === undefined) return;
    openTasks.delete(path);
    if (end === 'good') told.logged = true;
    else told.costs = 0;
  }
}

/** A key that was given as much never runs out. */
export const plenty = 1_000_000_000;

type HeaderSource = { get(name: string): string | null };

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${wordsOf(error.cause)}`;
}
