import { Pool } from 'undici';
import type { FileRelay } from '../media/file-relay.ts';
import { holdsLongText, jsonStream } from '../outbound/json-body.ts';
import { type HttpResponse, sendRequest } from '../outbound/send-request.ts';
import { type SlotOptions, Slots, type SlotUser } from '../outbound/slots.ts';
import { matcher } from '../settings/model-patterns.ts';
import type { ChannelSettings } from '../settings/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import { UpstreamCalls } from '../telemetry/upstream-calls.ts';
import { Health } from './health.ts';
import { ChannelLimiter } from './limits.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path of the interface. The channel's profile may rename it. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** User whose share of the slots it uses. Undefined for the gateway's own requests. */
  user?: SlotUser;
  /** The request polls for a state. Polls have slots of their own, so they never wait for slow calls. */
  poll?: boolean;
  /** Longest time before the response headers, for responses that are sent only when complete. */
  maxSilenceMs?: number;
  signal: AbortSignal;
}

/** Longest time before the response headers, and between two chunks of the body. */
const defaultMaxSilenceMs = 120_000;
/** How long an idle connection stays open. */
const keepAliveMs = 30_000;

/** Slots of a channel. A poll waits for a slot for less than its own timeout. */
export interface ChannelSlots {
  calls: SlotOptions;
  polls: SlotOptions;
}

const defaultSlots: ChannelSlots = {
  calls: { count: 512, waitMs: 10_000 },
  polls: { count: 512, waitMs: 5_000 },
};

/** One upstream account: its connections, its names of models, paths and headers, and its health. */
export class Channel {
  readonly settings: ChannelSettings;
  readonly health: Health;
  readonly limiter: ChannelLimiter;
  /** Host names of the provider. */
  readonly hosts: readonly string[];
  /** Telemetry of its requests. */
  readonly calls: UpstreamCalls;
  /** Whether it serves a model, by full id or by a pattern. */
  readonly serves: (modelId: string) => boolean;
  /** Like `serves`, but ignores the pattern `*`. */
  readonly lists: (modelId: string) => boolean;
  #pool: Pool | undefined;
  #retired = false;
  readonly #calls: Slots;
  readonly #polls: Slots;
  readonly #basePath: string;
  readonly #files: Pick<FileRelay, 'restoreProviderUrls'> | undefined;
  readonly #upstreamNames: ReadonlyMap<string, string>;
  readonly #headerNames = new Map<string, string>();

  /** `files` is undefined if no channel relays files. */
  constructor(
    settings: ChannelSettings,
    clock: () => number,
    { calls, polls } = defaultSlots,
    files?: Pick<FileRelay, 'restoreProviderUrls'>,
    limiter = new ChannelLimiter(settings.name),
    logger?: Logger,
  ) {
    this.settings = settings;
    this.#files = files;
    this.health = new Health(clock, (reason, ms) =>
      logger?.warn({ channel: settings.name, reason, seconds: ms / 1_000 }, 'the channel is in a cool-down'),
    );
    this.limiter = limiter;
    const base = new URL(settings.baseUrl);
    this.hosts = [settings.baseUrl, settings.wsUrl].map((url) => new URL(url).hostname);
    this.calls = new UpstreamCalls(settings.name, base, settings.traceContext);
    const ids = settings.models.map(({ id }) => id);
    this.serves = matcher(ids);
    this.lists = matcher(ids.filter((id) => id !== '*'));
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

  /** Number of requests that wait for a slot. */
  get waiting(): number {
    return this.#calls.waiting + this.#polls.waiting;
  }

  /** The provider's name of a model. */
  upstreamModel(id: string): string {
    return this.#upstreamNames.get(id) ?? id;
  }

  /**
   * Sends a request with the account's key. The slot is released when the response body ends. Rejects only without a
   * response, with a `BusyError` if nothing was sent.
   */
  async request(request: UpstreamRequest): Promise<HttpResponse> {
    const release = await (request.poll ? this.#polls : this.#calls).acquire(request.user, request.signal);
    try {
      const counted = this.health.figures.startRequest();
      const response = await this.#send(request).catch((error: unknown) => {
        counted.finish();
        throw error;
      });
      counted.recordLatency();
      response.body.onClose(() => {
        counted.finish();
        release();
        this.#closeIfIdle();
      });
      return response;
    } catch (error) {
      release();
      this.#closeIfIdle();
      throw error;
    }
  }

  /** Whether no request is in flight or waiting. */
  get isIdle(): boolean {
    return this.#calls.isIdle && this.#polls.isIdle;
  }

  /** Called when the channel leaves the configuration: its connections close after the last request in flight. */
  retire(): void {
    this.#retired = true;
    this.#closeIfIdle();
  }

  async #send(request: UpstreamRequest): Promise<HttpResponse> {
    const { method, path, headers, maxSilenceMs, signal } = request;
    const body = this.#withProviderUrls(request);
    const { key } = this.settings;
    // A renamed header holds the bare key.
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
    const answer = sendRequest(
      this.#openPool(),
      {
        method,
        path: this.#basePath + this.upstreamPath(path),
        headers: sent,
        body: body === undefined ? null : (written?.stream ?? JSON.stringify(body)),
        ...(maxSilenceMs !== undefined && { headersTimeout: maxSilenceMs }),
      },
      signal,
    );
    answer.then(({ status }) => call.answered(status), call.failed);
    return answer;
  }

  /** Replaces links to relayed files with the provider's own URLs. */
  #withProviderUrls({ body, user }: Pick<UpstreamRequest, 'body' | 'user'>): unknown {
    if (user === undefined || this.#files === undefined) return body;
    return this.#files.restoreProviderUrls(body, { userId: user, channel: this.name });
  }

  /** The provider's path. The profile may rename a prefix. */
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

  /** Opens the pool again for a request that was already under way when the channel was retired. */
  #openPool(): Pool {
    // Unlimited connections: requests wait only for slots, where waiting is counted.
    this.#pool ??= new Pool(new URL(this.settings.baseUrl).origin, {
      connect: { timeout: 5_000 },
      headersTimeout: defaultMaxSilenceMs,
      bodyTimeout: defaultMaxSilenceMs,
      keepAliveTimeout: keepAliveMs,
      // Overrides the provider's `keep-alive` header.
      keepAliveMaxTimeout: keepAliveMs,
    });
    return this.#pool;
  }

  #closeIfIdle(): void {
    if (!this.#retired || !this.isIdle) return;
    void this.#pool?.destroy();
    this.#pool = undefined;
  }
}
