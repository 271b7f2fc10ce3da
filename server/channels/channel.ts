import { Pool } from 'undici';
import type { FileRelay } from '../media/file-relay.ts';
import { ask, type HttpAnswer } from '../outbound/ask.ts';
import { holdsLongText, jsonStream } from '../outbound/json-body.ts';
import { type SlotOptions, Slots, type SlotUser } from '../outbound/slots.ts';
import type { ChannelSettings } from '../settings/settings.ts';
import { UpstreamCalls } from '../telemetry/upstream-calls.ts';
import { Health } from './health.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path as the interface writes it; the profile may rename it. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Written as JSON. */
  body?: unknown;
  /** Whose share of the connections it takes; undefined: the gateway's own. */
  user?: SlotUser;
  /** It asks how something stands, and must not wait for calls that take their time. */
  poll?: boolean;
  /** Longest silence before the headers, in milliseconds, where the answer comes only when all of it is made. */
  silenceMs?: number;
  signal: AbortSignal;
}

export type UpstreamResponse = HttpAnswer;

/** Longest silence of an upstream, before the headers and between two pieces of the body. */
const silence = 120_000;
/** A connection that is not in use is kept so long, in milliseconds. */
const idleMs = 30_000;

/** Requests at a time, and how long one waits for its turn. A poll is given up before its time limit is. */
export interface ChannelSlots {
  calls: SlotOptions;
  polls: SlotOptions;
}

const standardSlots: ChannelSlots = {
  calls: { count: 512, waitMs: 10_000 },
  polls: { count: 512, waitMs: 5_000 },
};

/** One upstream account: its connections, its names for things, and its health. */
export class Channel {
  readonly settings: ChannelSettings;
  readonly health: Health;
  /** Names of its provider's hosts. */
  readonly hosts: readonly string[];
  /** What its provider takes to answer. */
  readonly calls: UpstreamCalls;
  #pool: Pool | undefined;
  #retired = false;
  readonly #calls: Slots;
  readonly #polls: Slots;
  readonly #basePath: string;
  readonly #files: Pick<FileRelay, 'givenBack'> | undefined;
  readonly #upstreamNames: ReadonlyMap<string, string>;
  readonly #headerNames = new Map<string, string>();

  /** `files`: undefined where no channel has relayed files. */
  constructor(
    settings: ChannelSettings,
    clock: () => number,
    { calls, polls } = standardSlots,
    files?: Pick<FileRelay, 'givenBack'>,
  ) {
    this.settings = settings;
    this.#files = files;
    this.health = new Health(clock);
    const base = new URL(settings.baseUrl);
    this.hosts = [settings.baseUrl, settings.wsUrl].map((url) => new URL(url).hostname);
    this.calls = new UpstreamCalls(settings.name, base, settings.traceContext);
    this.#basePath = base.pathname.replace(/\/$/, '');
    this.#calls = new Slots(calls);
    this.#polls = new Slots(polls);
    this.#upstreamNames = new Map(
      settings.models.flatMap(({ id, upstream }) =>
        upstream === undefined ? [] : [[id, upstream] as const],
      ),
    );
    for (const [name, renamed] of Object.entries(settings.profile.headers)) {
      this.#headerNames.set(name.toLowerCase(), renamed);
    }
  }

  get name(): string {
    return this.settings.name;
  }

  /** Requests that wait for a free connection. */
  get waiting(): number {
    return this.#calls.waiting + this.#polls.waiting;
  }

  /** The provider's name of a model. */
  upstreamModel(id: string): string {
    return this.#upstreamNames.get(id) ?? id;
  }

  /**
   * Sends a request with the account's key. Its slot is taken until the body has ended. Rejects only when no answer
   * came, with a `BusyError` when nothing was sent.
   */
  async request(request: UpstreamRequest): Promise<UpstreamResponse> {
    const leave = await (request.poll ? this.#polls : this.#calls).take(request.user, request.signal);
    try {
      const counted = this.health.figures.begin();
      const response = await this.#send(request).catch((error: unknown) => {
        counted.ended();
        throw error;
      });
      counted.answered();
      response.body.onClose(() => {
        counted.ended();
        leave();
        this.#closeIfDone();
      });
      return response;
    } catch (error) {
      leave();
      this.#closeIfDone();
      throw error;
    }
  }

  /** Whether no request goes by it, or waits to. */
  get idle(): boolean {
    return this.#calls.idle && this.#polls.idle;
  }

  /** The configuration has it no more: what still goes by it ends as it began, and then its connections are closed. */
  retire(): void {
    this.#retired = true;
    this.#closeIfDone();
  }

  async #send(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { method, path, headers, silenceMs, signal } = request;
    const body = this.#ownFiles(request);
    const { key } = this.settings;
    // Under a name of its own a key stands alone.
    const keyHeader = this.#headerNames.get('authorization');
    const sent: Record<string, string> =
      keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key };
    for (const [name, value] of Object.entries(headers ?? {})) {
      sent[this.#headerNames.get(name.toLowerCase()) ?? name] = value;
    }
    if (body !== undefined) sent['content-type'] = 'application/json';
    const written = holdsLongText(body) ? await jsonStream(body) : undefined;
    if (written !== undefined) sent['content-length'] = String(written.length);
    const call = this.calls.begin(method);
    if (call.traceparent !== undefined) sent.traceparent = call.traceparent;
    const answer = ask(
      this.#connections(),
      {
        method,
        path: this.#basePath + this.upstreamPath(path),
        headers: sent,
        body: body === undefined ? null : (written?.stream ?? JSON.stringify(body)),
        ...(silenceMs !== undefined && { headersTimeout: silenceMs }),
      },
      signal,
    );
    answer.then(({ status }) => call.answered(status), call.failed);
    return answer;
  }

  /** The body with the provider's addresses of its own files that the user was shown as links. */
  #ownFiles({ body, user }: Pick<UpstreamRequest, 'body' | 'user'>): unknown {
    if (user === undefined || this.#files === undefined) return body;
    return this.#files.givenBack(body, { userId: user, channel: this.name });
  }

  /** The path as this provider has it: the profile may rename how it begins. */
  upstreamPath(path: string): string {
    for (const [prefix, renamed] of Object.entries(this.settings.profile.paths)) {
      if (path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`)) {
        return renamed + path.slice(prefix.length);
      }
    }
    return path;
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  /** Made anew for a request that was on its way here when the channel was retired. */
  #connections(): Pool {
    // As many connections as there are slots: a request that had to wait in here would not be known to wait.
    this.#pool ??= new Pool(new URL(this.settings.baseUrl).origin, {
      connect: { timeout: 5_000 },
      headersTimeout: silence,
      bodyTimeout: silence,
      keepAliveTimeout: idleMs,
      // Whatever the provider's own header says.
      keepAliveMaxTimeout: idleMs,
    });
    return this.#pool;
  }

  #closeIfDone(): void {
    if (!this.#retired || !this.idle) return;
    void this.#pool?.destroy();
    this.#pool = undefined;
  }
}
