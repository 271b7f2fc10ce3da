import type { Agent } from 'undici';
import { DownloadError, download } from '../../outbound/download.ts';
import { outboundAgent } from '../../outbound/open-url.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { FactsOf, MediaFacts, MediaKind } from '../media/media-facts.ts';
import { TaskFailure } from '../tasks/task-board.ts';
import { checkLimits, type MediaLimits } from './media-limits.ts';

/** What was seen of a file that was fetched, read and found to be within its limits. */
export interface SeenMedia<Facts extends MediaFacts = MediaFacts> {
  facts: Facts;
  /** A small PNG of an image; undefined for formats that cannot be decoded here, such as WebP, TIFF and HEIC. */
  thumbnail?: Uint8Array;
}

interface LoadedMedia<Facts extends MediaFacts> extends SeenMedia<Facts> {
  bytes: Uint8Array;
}

interface MediaLoaderOptions {
  engine: MediaEngine;
  /** Fetch from loopback and private networks, too. */
  allowPrivateUrls: boolean;
  /** Address of the own server, whose files may always be fetched. */
  ownAddress: () => string;
  /** Milliseconds that one download may take. */
  timeout?: number;
}

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
    this.#agent = outboundAgent({ allowPrivate: options.allowPrivateUrls, exempt: options.ownAddress });
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
    const { timeout = 10_000 } = this.#options;
    try {
      return await download(this.#agent, source, { size, timeout, signal: this.#closing.signal });
    } catch (error) {
      throw failureOf(error, size);
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
}

function failureOf(error: unknown, size: number): TaskFailure {
  if (!(error instanceof DownloadError)) return badUrl('The file could not be downloaded');
  if (error.kind === 'size') return tooLarge(size);
  return badUrl(`The ${error.kind === 'timeout' ? 'file' : 'URL'} ${error.message}`);
}

function badUrl(message: string): TaskFailure {
  return new TaskFailure('InvalidURL', message);
}

function tooLarge(size: number): TaskFailure {
  return new TaskFailure('InvalidParameter.Size', `The file has more than ${size} bytes`);
}
