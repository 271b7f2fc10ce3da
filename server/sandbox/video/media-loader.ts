import { Agent, fetch, type Response } from 'undici';
import { isPrivateAddress, lookupPublic } from '../custom-voices/private-addresses.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { FactsOf, MediaFacts, MediaKind } from '../media/media-facts.ts';
import { checkLimits, type MediaLimits } from './media-limits.ts';
import { TaskFailure } from './task-board.ts';

/** A file that was fetched, read and found to be within its limits. */
export interface LoadedMedia<Facts extends MediaFacts = MediaFacts> {
  facts: Facts;
  bytes: Uint8Array;
  /** A small PNG of an image; undefined for formats that cannot be decoded here, such as WebP, TIFF and HEIC. */
  thumbnail?: Uint8Array;
}

export interface MediaLoaderOptions {
  engine: MediaEngine;
  /** Fetch from loopback and private networks, too. */
  allowPrivateUrls: boolean;
  /** Address of the own server, whose files may always be fetched. */
  ownAddress: () => string;
  /** Milliseconds that one download may take. */
  timeout?: number;
}

const mostRedirects = 3;
const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

/** Is this a Base64 data URL of that kind of media? */
export function isDataUrl(source: string, kind: MediaKind): boolean {
  return dataUrl.exec(source)?.[1]?.toLowerCase().startsWith(`${kind}/`) ?? false;
}

/** Fetches media from http, https and data URLs, and looks closely at it. */
export class MediaLoader {
  readonly #options: MediaLoaderOptions;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  constructor(options: MediaLoaderOptions) {
    this.#options = options;
    // Checked where the name is resolved, so that it cannot resolve to something else a moment later.
    this.#agent = new Agent({ connect: options.allowPrivateUrls ? {} : { lookup: lookupPublic } });
  }

  /** Throws a `TaskFailure` that says what is wrong with the file. */
  async load<Kind extends MediaKind>(
    kind: Kind,
    source: string,
    limits: MediaLimits,
  ): Promise<LoadedMedia<FactsOf<Kind>>> {
    const bytes = await this.fetch(source, limits.size);
    const facts = await this.#options.engine.run('readFacts', { kind, bytes });
    if (!facts) throw new TaskFailure('InvalidParameter.Format', `The file is no ${kind} that can be read`);
    checkLimits(facts, limits);
    const loaded = { facts: facts as FactsOf<Kind>, bytes };
    return kind === 'image'
      ? { ...loaded, thumbnail: await this.#thumbnail(bytes, facts.format, limits) }
      : loaded;
  }

  /** The bytes behind a URL. Throws a `TaskFailure`: `InvalidURL`, or `InvalidParameter.Size` above `size` bytes. */
  async fetch(source: string, size: number): Promise<Uint8Array> {
    const [head] = dataUrl.exec(source) ?? [];
    if (head !== undefined) {
      const bytes = Buffer.from(source.slice(head.length), 'base64');
      if (bytes.length > size) throw tooLarge(size);
      return bytes;
    }
    const signal = AbortSignal.any([
      this.#closing.signal,
      AbortSignal.timeout(this.#options.timeout ?? 10_000),
    ]);
    try {
      const response = await this.#follow(source, signal);
      if (!response.ok) throw badUrl(`The URL answered with status ${response.status}`);
      return await readLimited(response, size);
    } catch (error) {
      if (error instanceof TaskFailure) throw error;
      if (signal.aborted) throw badUrl('The file did not arrive in time');
      throw badUrl(`The file could not be downloaded: ${reasonOf(error)}`);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  async #thumbnail(bytes: Uint8Array, format: string, limits: MediaLimits): Promise<Uint8Array | undefined> {
    const thumbnail = await this.#options.engine.run('readThumbnail', { bytes, format });
    if (thumbnail === 'damaged') throw new TaskFailure('InvalidParameter.Format', 'The image is damaged');
    if (thumbnail === 'unsupported') return undefined;
    if (limits.opaque && format === 'png' && thumbnail.transparent)
      throw new TaskFailure('InvalidParameter.Transparency', 'A PNG must not be transparent');
    return thumbnail.png;
  }

  async #follow(source: string, signal: AbortSignal): Promise<Response> {
    let url = URL.parse(source);
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      if (!url || !/^https?:$/.test(url.protocol)) throw badUrl('The URL is no http or https address');
      if (!this.#mayFetch(url)) throw badUrl('The URL is no public address');
      const response = await fetch(url, { dispatcher: this.#agent, redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      url = URL.parse(location, url);
    }
    throw badUrl(`The URL redirects more than ${mostRedirects} times`);
  }

  #mayFetch(url: URL): boolean {
    const { allowPrivateUrls, ownAddress } = this.#options;
    return allowPrivateUrls || url.origin === ownAddress() || !isPrivateAddress(url.hostname);
  }
}

async function readLimited({ body }: Response, size: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    const bytes = part as Uint8Array;
    length += bytes.length;
    if (length > size) throw tooLarge(size);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function badUrl(message: string): TaskFailure {
  return new TaskFailure('InvalidURL', message);
}

function tooLarge(size: number): TaskFailure {
  return new TaskFailure('InvalidParameter.Size', `The file has more than ${size} bytes`);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? cause.message : message;
}
