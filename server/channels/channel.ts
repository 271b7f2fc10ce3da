import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import type { ChannelSettings } from '../settings.ts';
import { Health } from './health.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path as the interface writes it; the profile may rename it. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Written as JSON. */
  body?: unknown;
  signal: AbortSignal;
}

export interface UpstreamResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Dispatcher.ResponseData['body'];
}

/** Longest silence of an upstream, before the headers and between two pieces of the body. */
const silence = 120_000;

/** One upstream account: its connections, its names for things, and its health. */
export class Channel {
  readonly settings: ChannelSettings;
  readonly health: Health;
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #upstreamNames: ReadonlyMap<string, string>;
  readonly #headerNames = new Map<string, string>();

  constructor(settings: ChannelSettings, clock: () => number) {
    this.settings = settings;
    this.health = new Health(clock);
    const base = new URL(settings.baseUrl);
    this.#basePath = base.pathname.replace(/\/$/, '');
    this.#pool = new Pool(base.origin, {
      connections: 256,
      connect: { timeout: 5_000 },
      headersTimeout: silence,
      bodyTimeout: silence,
      keepAliveTimeout: 30_000,
    });
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

  /** The provider's name of a model. */
  upstreamModel(id: string): string {
    return this.#upstreamNames.get(id) ?? id;
  }

  /** Sends a request with the account's key. Rejects only when no answer came. */
  async request({ method, path, headers, body, signal }: UpstreamRequest): Promise<UpstreamResponse> {
    const sent: Record<string, string> = { authorization: `Bearer ${this.settings.key}` };
    for (const [name, value] of Object.entries(headers ?? {})) {
      sent[this.#headerNames.get(name.toLowerCase()) ?? name] = value;
    }
    if (body !== undefined) sent['content-type'] = 'application/json';
    const response = await this.#pool.request({
      method,
      path: this.#basePath + this.upstreamPath(path),
      headers: sent,
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    return { status: response.statusCode, headers: response.headers, body: response.body };
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

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
