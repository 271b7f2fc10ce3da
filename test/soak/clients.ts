import { setTimeout as delay } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { nativePoll, pollPath } from '../faults/poll-path.ts';
import type { CallbackServer } from './callback-server.ts';
import type { GatewayNode } from './node.ts';
import {
  maxWaitMs,
  type RecordedResponse,
  type Recorder,
  type SoakKey,
  type SoakRequest,
} from './recorder.ts';
import { abortedCall, badCall, faultyCall, logSearch, plainCall, slowReader } from './requests.ts';
import { runSocketSession } from './sockets.ts';
import { createTaskRequest, taskEnd } from './task-requests.ts';

export interface SoakClientsOptions {
  nodes: readonly GatewayNode[];
  recorder: Recorder;
  random: () => number;
  /** Keys with more quota than the run can spend. */
  largeKeys: readonly SoakKey[];
  /** Keys with little quota, used one after the other. */
  smallKeys: readonly SoakKey[];
  /** A key without limits, which sees the tasks of all keys of its user. */
  observer: SoakKey;
  callbacks: CallbackServer;
  /** Total requests per second. Undefined: unlimited. */
  rate: number | undefined;
}

/** Consecutive refusals after which a key counts as out of quota. */
const maxRefusals = 12;
/** Maximum number of unfinished tasks. */
const maxOpenTasks = 12;

/** Clients that send requests of all kinds, in an order derived from the seed, and record the responses. */
export class SoakClients {
  readonly #options: SoakClientsOptions;
  #agent = new Agent();
  #smallKeyIndex = 0;
  #refusals = 0;
  /** Monotonic time of the next request. */
  #due = 0;

  constructor(parts: SoakClientsOptions) {
    this.#options = parts;
  }

  /** Runs `count` concurrent clients for `ms`. Resolves after their last response. */
  async work(countOutcome: number, ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    const runClient = async () => {
      while (performance.now() < deadline) {
        await this.#waitForTurn();
        await this.#sendNext();
      }
    };
    await Promise.all(Array.from({ length: countOutcome }, runClient));
    await this.#agent.destroy();
    this.#agent = new Agent();
  }

  /** Polls the unfinished tasks until all have ended, for up to `ms`. */
  async finishTasks(ms: number): Promise<void> {
    const { openTasks } = this.#options.recorder;
    const deadline = performance.now() + ms;
    while (openTasks.size > 0 && performance.now() < deadline) {
      for (const path of openTasks.keys()) await this.#poll(path);
      await delay(100);
    }
    await this.#agent.destroy();
    this.#agent = new Agent();
  }

  /** Searches the log of each gateway. */
  async searchLogs(): Promise<void> {
    const { nodes, observer } = this.#options;
    await Promise.all(nodes.map((node) => this.send(logSearch, observer, node)));
  }

  /** Sends a request to `to` or a random gateway. Returns the status, or undefined without a complete response. */
  async send(request: SoakRequest, key: SoakKey, to?: GatewayNode): Promise<number | undefined> {
    const { nodes, recorder, random } = this.#options;
    const running = nodes.filter(({ url }) => url !== undefined);
    const node = to ?? running[Math.floor(random() * running.length)];
    if (node?.url === undefined) {
      await delay(20);
      return undefined;
    }
    const { generation } = node;
    const startedAt = performance.now();
    const abortSignals =
      request.abortAfterMs === undefined ? [] : [AbortSignal.timeout(request.abortAfterMs)];
    const timeout = AbortSignal.timeout(maxWaitMs);
    try {
      const reply = await fetch(node.url + request.path, {
        method: request.method,
        headers: {
          authorization: `Bearer ${key.secret}`,
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(request.body === undefined
          ? {}
          : { body: typeof request.body === 'string' ? request.body : JSON.stringify(request.body) }),
        signal: AbortSignal.any([timeout, ...abortSignals]),
        dispatcher: this.#agent,
      });
      if (request.readAfterMs !== undefined) await delay(request.readAfterMs);
      const body = await reply.text();
      recorder.recordDuration(request.kind, performance.now() - startedAt);
      this.#check(request, key, reply, body);
      return reply.status;
    } catch (error) {
      if (abortSignals.some(({ aborted }) => aborted)) recorder.countOutcome(request.kind, 'aborted');
      else if (node.generation !== generation) recorder.countOutcome(request.kind, 'cut off by a kill');
      else if (request.mayFail === true && !timeout.aborted)
        recorder.countOutcome(request.kind, 'failed as expected');
      else
        recorder.recordFault(
          request.kind,
          `${timeout.aborted ? 'no response' : 'interrupted'} unexpectedly: ${describeError(error)}`,
        );
      return undefined;
    }
  }

  /** Waits for the time of the next request, to respect the rate. */
  async #waitForTurn(): Promise<void> {
    const { rate } = this.#options;
    if (rate === undefined) return;
    const now = performance.now();
    this.#due = Math.max(now, this.#due + 1_000 / rate);
    if (this.#due > now) await delay(this.#due - now);
  }

  async #sendNext(): Promise<void> {
    const { random, recorder, smallKeys, nodes, callbacks } = this.#options;
    const key = this.#pickLargeKey();
    const choice = random();
    if (choice < 0.42) await this.send(plainCall(random), key);
    else if (choice < 0.64) await this.#spend(smallKeys[this.#smallKeyIndex]);
    else if (choice < 0.68) await this.send(badCall(random), key);
    else if (choice < 0.72) await this.send(faultyCall(random), key);
    else if (choice < 0.78) await this.send(abortedCall(random), key);
    else if (choice < 0.79) await this.send(slowReader(random), key);
    else if (choice < 0.85) await runSocketSession({ nodes, random, recorder, key });
    else if (choice < 0.89 && recorder.openTasks.size < maxOpenTasks)
      await this.send(
        createTaskRequest(random, () => callbacks.createUrl()),
        random() < 0.5 ? key : (smallKeys[this.#smallKeyIndex] ?? key),
      );
    else {
      const [path] = [...recorder.openTasks.keys()].toSorted(() => random() - 0.5);
      if (path !== undefined) await this.#poll(path);
    }
  }

  /** Sends a request with a small key. Switches to the next key when this one is out of quota. */
  async #spend(key: SoakKey | undefined): Promise<void> {
    if (key === undefined) return;
    const { random } = this.#options;
    if (key.revoked === true) {
      this.#smallKeyIndex += 1;
      return;
    }
    const status = await this.send(random() < 0.2 ? faultyCall(random) : plainCall(random), key);
    this.#refusals = status === 403 ? this.#refusals + 1 : 0;
    if (this.#refusals < maxRefusals) return;
    this.#refusals = 0;
    this.#smallKeyIndex += 1;
  }

  /** The small key in use. */
  get activeKey(): SoakKey | undefined {
    return this.#options.smallKeys[this.#smallKeyIndex];
  }

  #pickLargeKey(): SoakKey {
    const { random, largeKeys } = this.#options;
    const key = largeKeys[Math.floor(random() * largeKeys.length)] ?? largeKeys[0];
    if (key === undefined) throw new Error('there is no key');
    return key;
  }

  /** The small keys used so far. */
  get usedKeys(): readonly SoakKey[] {
    return this.#options.smallKeys.slice(0, this.#smallKeyIndex + 1);
  }

  async #poll(path: string): Promise<void> {
    const cancels = path.startsWith(nativePoll) && this.#options.random() < 0.05;
    const cancel = { kind: 'cancel', method: 'POST', path: `${path}/cancel`, statuses: [200, 400] } as const;
    await this.send(cancels ? cancel : { kind: 'poll', method: 'GET', path }, this.#options.observer);
  }

  #check(
    request: SoakRequest,
    key: SoakKey,
    reply: { status: number; headers: HeaderSource },
    body: string,
  ): void {
    const { recorder } = this.#options;
    const { status, headers } = reply;
    const requestId = headers.get('x-request-id');
    const excerpt = `${status} ${requestId}: ${body.slice(0, 300)}`;
    const code = /"code":"([A-Za-z_.]+)"/.exec(body)?.[1] ?? '';
    const expected = (request.statuses ?? [200]).includes(status) || (status === 401 && key.revoked === true);
    const isRetryable = (status === 503 || status === 429) && headers.get('retry-after') !== null;
    const isOutOfQuota = code === 'insufficient_user_quota' || (status === 403 && body.includes('quota'));
    if (!expected && !isRetryable && !(isOutOfQuota && key.granted < largeGrant))
      return recorder.recordFault(request.kind, `answered with ${excerpt}`);
    recorder.countOutcome(request.kind, status === 200 ? '200' : `${status} ${code}`);
    if (requestId === null)
      return recorder.recordFault(request.kind, `a response without x-request-id: ${excerpt}`);
    if (request.kind === 'poll' && status === 200) this.#recordTaskEnd(request.path, body);
    if (request.body === undefined || request.headers?.authorization !== undefined) return;
    // The cost of a task is not known yet. A request that may fail costs what the provider reports.
    const hasKnownCost = status === 200 && request.createsTask !== true && request.mayFail !== true;
    const expectedCost = hasKnownCost
      ? (request.readCost?.(body) ?? request.expectedCost)
      : status === 200
        ? undefined
        : 0;
    if (hasKnownCost && request.expectedCost !== undefined && expectedCost !== request.expectedCost)
      recorder.recordFault(
        request.kind,
        `reports a cost of ${expectedCost} instead of ${request.expectedCost}: ${excerpt}`,
      );
    const logged = status === 200 && request.createsTask !== true;
    const recorded = { requestId, kind: request.kind, tokenId: key.id, status, expectedCost, logged };
    recorder.responses.push(recorded);
    if (status === 200 && request.createsTask === true) this.#recordTask(request, body, recorded);
  }

  #recordTask(request: SoakRequest, body: string, recorded: RecordedResponse): void {
    const { recorder } = this.#options;
    const path = pollPath(request.path, JSON.parse(body));
    recorder.tasks += 1;
    recorder.openTasks.set(path, recorded);
    if (request.callbackUrl !== undefined) recorder.callbackUrls.set(request.callbackUrl, path);
  }

  /** A task that succeeded must be in the log. The others are free. */
  #recordTaskEnd(path: string, record: string): void {
    const { openTasks } = this.#options.recorder;
    const recorded = openTasks.get(path);
    const end = taskEnd(record);
    if (recorded === undefined || end === undefined) return;
    openTasks.delete(path);
    if (end === 'succeeded') recorded.logged = true;
    else recorded.expectedCost = 0;
  }
}

/** A key with this quota never runs out. */
export const largeGrant = 1_000_000_000;

type HeaderSource = { get(name: string): string | null };

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describeError(error.cause)}`;
}
