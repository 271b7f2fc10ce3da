import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FeedProgress, turnIntervalMs } from '../feed-progress.ts';
import { type Hearing, type News, NewsGathering } from '../news.ts';

export interface ListenerParts {
  /** A connection of its own, not connected yet; a query over it must end in time. */
  open: () => pg.Client;
  /** Sends `payload` to who listens on a channel, over another connection. */
  notify: (channel: string, payload: string) => Promise<void>;
  /** Called when news begin to be heard, and when they no longer are, and why. */
  onHearing: (hears: boolean, reason?: Error) => void;
}

/** Between two proofs that the connection lives, in milliseconds. */
const proveEvery = 400;
/** Longest time for an announcement of our own to come, in milliseconds. */
const echoMs = 5_000;
/** Before it is tried again, in milliseconds: at first, at the longest, and where a pooler passes nothing on. */
const firstPause = 100;
const maxPause = 5_000;
const deafPause = 60_000;
/** News are told at once, and then so often, in milliseconds. */
const gapMs = 25;

/** The channel of the schema in which the tables are; the triggers write its name in the same way. */
const channelQuery = `select 'unigate_' || md5(n.nspname) as channel from pg_class c
  join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('tokens')`;

/** A connection may listen and hear nothing, as over a pooler that lends it for a transaction only. */
class Deaf extends Error {
  override readonly message =
    `nothing that was announced came within ${echoMs} ms: a connection through a pooler of transactions hears nothing, a direct one is needed`;
}

/**
 * Hears what is announced in a PostgreSQL database, over a connection of its own that is made anew when it breaks. Each
 * time it is proved that news come; while that is not so, there is no era.
 */
export class Listener implements Hearing {
  readonly #parts: ListenerParts;
  readonly #over = new AbortController();
  readonly #hearers = new Set<(news: News) => void>();
  readonly #gathering = new NewsGathering();
  readonly #running: Promise<void>;
  readonly #progress = new FeedProgress();
  readonly #turns: NodeJS.Timeout;
  /** Ends the wait for the next proof early. */
  #proveSoon = () => {};
  #echo: { word: string; heard: () => void } | undefined;
  #telling: NodeJS.Timeout | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#running = this.#run();
    this.#turns = setInterval(() => {
      if (this.#progress.isBehind) this.#proveSoon();
    }, turnIntervalMs).unref();
  }

  get era(): number | undefined {
    return this.#progress.epoch;
  }

  get pauses(): number {
    return this.#progress.pauses;
  }

  get isBehind(): boolean {
    return this.#progress.isBehind;
  }

  subscribe(hear: (news: News) => void): () => void {
    this.#hearers.add(hear);
    return () => this.#hearers.delete(hear);
  }

  async stop(): Promise<void> {
    this.#over.abort();
    this.#proveSoon();
    await this.#running;
    clearInterval(this.#turns);
    clearTimeout(this.#telling);
  }

  async #run(): Promise<void> {
    const { onHearing } = this.#parts;
    let pause = firstPause;
    let told: boolean | undefined;
    while (!this.#over.signal.aborted) {
      const reason = await this.#listen(() => {
        pause = firstPause;
        if (told !== true) onHearing(true);
        told = true;
      });
      this.#progress.disconnect();
      if (this.#over.signal.aborted) return;
      if (told !== false) onHearing(false, reason);
      told = false;
      await this.#sleep(reason instanceof Deaf ? deafPause : pause);
      pause = Math.min(maxPause, pause * 2);
    }
  }

  /** Until the connection is lost, whose reason it gives. */
  async #listen(begun: () => void): Promise<Error> {
    const client = this.#parts.open();
    const lost = new AbortController();
    const lose = (error?: Error) => lost.abort(error ?? new Error('the connection has ended'));
    client.on('error', lose);
    client.on('end', () => lose());
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    const stop = () => lose(new Error('the store is closed'));
    this.#over.signal.addEventListener('abort', stop, { once: true });
    const broken = new Promise<never>((_, reject) => {
      lost.signal.addEventListener('abort', () => reject(lost.signal.reason as Error), { once: true });
    });
    broken.catch(() => {});
    try {
      await Promise.race([this.#prove(client, lost.signal, begun), broken]);
      return new Error('the listening ended');
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#over.signal.removeEventListener('abort', stop);
      // One that is silently gone would not end.
      void client.end().catch(() => {});
    }
  }

  async #prove(client: pg.Client, lost: AbortSignal, begun: () => void): Promise<void> {
    await client.connect();
    const { rows } = await client.query<{ channel: string }>(channelQuery);
    const channel = rows[0]?.channel;
    if (channel === undefined)
      throw new Error('the listening connection leads to a database without these tables');
    await client.query(`listen ${channel}`);
    const provedAt = performance.now();
    await this.#hearOwn(channel);
    lost.throwIfAborted();
    this.#progress.connect(provedAt);
    begun();
    while (!lost.aborted) {
      await this.#untilNextProof();
      const startedAt = performance.now();
      // PostgreSQL sends the changes that were announced before ahead of this answer.
      await client.query('select 1');
      this.#flush();
      this.#progress.confirm(startedAt);
    }
  }

  /** The connection stands still meanwhile, as it will when something is announced. */
  async #hearOwn(channel: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const word = `hello ${randomUUID()}`;
    this.#echo = { word, heard: resolve };
    const late = new AbortController();
    try {
      await this.#parts.notify(channel, word);
      const silence = sleep(echoMs, undefined, { signal: late.signal }).then(() => {
        throw new Deaf();
      });
      silence.catch(() => {});
      await Promise.race([promise, silence]);
    } finally {
      late.abort();
      this.#echo = undefined;
    }
  }

  #hear(payload: string): void {
    if (payload === this.#echo?.word) this.#echo.heard();
    if (!this.#gathering.add(payload) || this.#telling !== undefined) return;
    const wait = Math.max(0, this.#toldAt + gapMs - performance.now());
    this.#telling = setTimeout(() => this.#tell(), wait);
  }

  #tell(): void {
    this.#telling = undefined;
    this.#toldAt = performance.now();
    const news = this.#gathering.take();
    for (const hear of this.#hearers) hear(news);
  }

  /** Reports what has been gathered without waiting for more. */
  #flush(): void {
    if (this.#telling === undefined) return;
    clearTimeout(this.#telling);
    this.#tell();
  }

  async #untilNextProof(): Promise<void> {
    if (this.#progress.isBehind) return;
    const soon = new AbortController();
    this.#proveSoon = () => soon.abort();
    await sleep(proveEvery, undefined, { signal: soon.signal }).catch(() => {});
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => {});
  }
}
