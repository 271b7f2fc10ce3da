import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ChangeCollector, type ChangeFeed, type ChangeSet } from '../change-feed.ts';
import { FeedProgress, turnIntervalMs } from '../feed-progress.ts';

interface ChangeFeedParts {
  /** Creates an unconnected client, whose queries have a time limit. */
  open: () => pg.Client;
  /** Sends a notification over another connection. */
  notify: (channel: string, payload: string) => Promise<void>;
  /** Called when the feed starts to deliver changes, and when it stops, with the reason. */
  onConnection: (isConnected: boolean, reason?: Error) => void;
}

/** Time between two checks of the connection, in milliseconds. */
const checkIntervalMs = 400;
/** Longest time for a notification of our own to arrive, in milliseconds. */
const echoLimitMs = 5_000;
/** Pauses before a reconnect, in milliseconds: the first, the longest, and that for a connection without notifications. */
const firstPauseMs = 100;
const maxPauseMs = 5_000;
const noNotificationsPauseMs = 60_000;
/** Least time between two change sets, in milliseconds. */
const gapMs = 25;

/** The channel of the schema that has the tables. The triggers compute its name in the same way. */
const channelQuery = `select 'unigate_' || md5(n.nspname) as channel from pg_class c
  join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('tokens')`;

/** The connection can listen, but no notifications arrive. */
class NoNotifications extends Error {
  override readonly message =
    `no notification arrived within ${echoLimitMs} ms: a pooler in transaction mode delivers none, a direct connection is needed`;
}

/** Receives notifications over a dedicated connection, and reconnects. It has no epoch until it has verified that they arrive. */
export class PostgresChangeFeed extends FeedProgress implements ChangeFeed {
  readonly #parts: ChangeFeedParts;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<(changes: ChangeSet) => void>();
  readonly #collector = new ChangeCollector();
  readonly #running: Promise<void>;
  readonly #turns: NodeJS.Timeout;
  /** Ends the wait for the next check early. */
  #checkSoon = () => {};
  #echo: { payload: string; received: () => void } | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ChangeFeedParts) {
    super();
    this.#parts = parts;
    this.#running = this.#run();
    this.#turns = setInterval(() => {
      if (this.isBehind) this.#checkSoon();
    }, turnIntervalMs).unref();
  }

  subscribe(listener: (changes: ChangeSet) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the store is closed'));
    this.#checkSoon();
    await this.#running;
    clearInterval(this.#turns);
    clearTimeout(this.#flushTimer);
  }

  async #run(): Promise<void> {
    const { onConnection } = this.#parts;
    let pause = firstPauseMs;
    let reported: boolean | undefined;
    while (!this.#stopped.signal.aborted) {
      const reason = await this.#listen(() => {
        pause = firstPauseMs;
        if (reported !== true) onConnection(true);
        reported = true;
      });
      this.disconnect();
      if (this.#stopped.signal.aborted) return;
      if (reported !== false) onConnection(false, reason);
      reported = false;
      await this.#sleep(reason instanceof NoNotifications ? noNotificationsPauseMs : pause);
      pause = Math.min(maxPauseMs, pause * 2);
    }
  }

  /** Resolves with the reason when the connection is lost. */
  async #listen(onConnected: () => void): Promise<Error> {
    const client = this.#parts.open();
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('the connection has ended')));
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    const signal = AbortSignal.any([lost.signal, this.#stopped.signal]);
    const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
    aborted.catch(() => {});
    try {
      await Promise.race([this.#serve(client, signal, onConnected), aborted]);
      return new Error('the listening ended');
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      // Not awaited, since a silently broken connection does not end.
      void client.end().catch(() => {});
    }
  }

  async #serve(client: pg.Client, signal: AbortSignal, onConnected: () => void): Promise<void> {
    await client.connect();
    const { rows } = await client.query<{ channel: string }>(channelQuery);
    const channel = rows[0]?.channel;
    if (channel === undefined)
      throw new Error('the listening connection leads to a database without these tables');
    await client.query(`listen ${channel}`);
    const connectedAt = performance.now();
    await this.#receiveEcho(channel);
    signal.throwIfAborted();
    this.connect(connectedAt);
    onConnected();
    while (!signal.aborted) {
      await this.#untilNextCheck();
      const startedAt = performance.now();
      // PostgreSQL sends the changes that were announced before ahead of this answer.
      await client.query('select 1');
      this.#flushNow();
      this.confirm(startedAt);
    }
  }

  /** Waits for a notification of our own. The connection is idle meanwhile, as when other gateways announce changes. */
  async #receiveEcho(channel: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const payload = `hello ${randomUUID()}`;
    this.#echo = { payload, received: resolve };
    const done = new AbortController();
    try {
      await this.#parts.notify(channel, payload);
      const timeout = sleep(echoLimitMs, undefined, { signal: done.signal }).then(() => {
        throw new NoNotifications();
      });
      timeout.catch(() => {});
      await Promise.race([promise, timeout]);
    } finally {
      done.abort();
      this.#echo = undefined;
    }
  }

  #receive(payload: string): void {
    if (payload === this.#echo?.payload) this.#echo.received();
    if (!this.#collector.add(payload) || this.#flushTimer !== undefined) return;
    const wait = Math.max(0, this.#flushedAt + gapMs - performance.now());
    this.#flushTimer = setTimeout(() => this.#flush(), wait);
  }

  #flush(): void {
    this.#flushTimer = undefined;
    this.#flushedAt = performance.now();
    const changes = this.#collector.flush();
    for (const listener of this.#listeners) listener(changes);
  }

  /** Delivers collected changes without waiting for more. */
  #flushNow(): void {
    if (this.#flushTimer === undefined) return;
    clearTimeout(this.#flushTimer);
    this.#flush();
  }

  async #untilNextCheck(): Promise<void> {
    if (this.isBehind) return;
    const soon = new AbortController();
    this.#checkSoon = () => soon.abort();
    await sleep(checkIntervalMs, undefined, { signal: soon.signal }).catch(() => {});
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopped.signal }).catch(() => {});
  }
}
