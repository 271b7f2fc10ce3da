import type { Agent } from 'undici';
import { DownloadError, download } from '../../outbound/download.ts';
import { outboundAgent } from '../../outbound/open-url.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { FactsOf, MediaFacts, MediaKind } from '../media/media-facts.ts';
import { TaskFailure } from '../tasks/task-board.ts';
import { checkLimits, type MediaLimits } from './media-limits.ts';

/** Properties of a media file that has been downloaded and validated. */
export interface ValidatedMedia<Facts extends MediaFacts = MediaFacts> {
  facts: Facts;
  /** Small PNG of an image. Undefined for formats that cannot be decoded, such as WebP, TIFF and HEIC. */
  thumbnail?: Uint8Array;
}

interface LoadedMedia<Facts extends MediaFacts> extends ValidatedMedia<Facts> {
  bytes: Uint8Array;
}

interface MediaLoaderOptions {
  engine: MediaEngine;
  /** Allow URLs in loopback and private networks. */
  allowPrivateUrls: boolean;
  /** Origin of the sandbox's own files, which are always allowed. */
  ownOrigin: () => string;
  /** Timeout of one download in milliseconds. */
  timeoutMs?: number;
}

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

/** Returns true for a Base64 data URL of that kind of media. */
export function isDataUrl(source: string, kind: MediaKind): boolean {
  return dataUrl.exec(source)?.[1]?.toLowerCase().startsWith(`${kind}/`) ?? false;
}

/** Downloads media from http, https and data URLs and validates it. */
export class MediaLoader {
  readonly #options: MediaLoaderOptions;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  constructor(options: MediaLoaderOptions) {
    this.#options = options;
    this.#agent = outboundAgent({ allowPrivate: options.allowPrivateUrls, exempt: options.ownOrigin });
  }

  /** Loads a media file. Throws a `TaskFailure` if it is invalid. */
  async load<Kind extends MediaKind>(
    kind: Kind,
    source: string,
    limits: MediaLimits,
  ): Promise<LoadedMedia<FactsOf<Kind>>> {
    const bytes = await this.fetch(source, limits.maxBytes);
    const facts = await this.#options.engine.run('readFacts', { kind, bytes });
    if (!facts) throw new TaskFailure('InvalidParameter.Format', `The file is not a readable ${kind} file`);
    checkLimits(facts, limits);
    const loaded = { facts: facts as FactsOf<Kind>, bytes };
    return kind === 'image'
      ? { ...loaded, thumbnail: await this.#thumbnail(bytes, facts.format, limits) }
      : loaded;
  }

  /** Downloads a file. Throws a `TaskFailure`: `InvalidURL`, or `InvalidParameter.Size` above `size` bytes. */
  async fetch(source: string, size: number): Promise<Uint8Array> {
    const [head] = dataUrl.exec(source) ?? [];
    if (head !== undefined) {
      const bytes = Buffer.from(source.slice(head.length), 'base64');
      if (bytes.length > size) throw createSizeFailure(size);
      return bytes;
    }
    const { timeoutMs = 10_000 } = this.#options;
    try {
      return await download(this.#agent, source, { size, timeout: timeoutMs, signal: this.#closing.signal });
    } catch (error) {
      throw toTaskFailure(error, size);
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
    if (limits.mustBeOpaque && format === 'png' && thumbnail.isTransparent)
      throw new TaskFailure('InvalidParameter.Transparency', 'A PNG must not be transparent');
    return thumbnail.png;
  }
}

function toTaskFailure(error: unknown, size: number): TaskFailure {
  if (!(error instanceof DownloadError)) return createUrlFailure('The file could not be downloaded');
  if (error.kind === 'size') return createSizeFailure(size);
  return createUrlFailure(`The ${error.kind === 'timeout' ? 'file' : 'URL'} ${error.message}`);
}

function createUrlFailure(message: string): TaskFailure {
  return new TaskFailure('InvalidURL', message);
}

function createSizeFailure(size: number): TaskFailure {
  return new TaskFailure('InvalidParameter.Size', `The file has more than ${size} bytes`);
}
