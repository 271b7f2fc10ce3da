import type { Agent } from 'undici';
import { DownloadError, download } from '../../outbound/download.ts';
import { outboundAgent } from '../../outbound/open-url.ts';
import { invalidParameter, type NativeError } from '../http/native-error.ts';

interface PromptLimits {
  /** Name of the field, for error messages. */
  field: string;
  /** Maximum size in bytes. */
  maxBytes: number;
  signal: AbortSignal;
}

interface PromptLoaderOptions {
  /** Allow URLs in loopback and private networks. */
  allowPrivateUrls: boolean;
  /** Origin of the sandbox's own files, which are always allowed. */
  ownOrigin?: () => string;
  /** Timeout of one download in milliseconds. */
  timeoutMs?: number;
}

const dataUrl = /^data:([^;,]*)(;base64)?,/i;

/** Loads recordings for voice cloning from an http(s) URL or a Base64 data URL. */
export class PromptLoader {
  readonly #timeoutMs: number;
  readonly #agent: Agent;

  constructor({ allowPrivateUrls, ownOrigin, timeoutMs = 10_000 }: PromptLoaderOptions) {
    this.#timeoutMs = timeoutMs;
    this.#agent = outboundAgent({
      allowPrivate: allowPrivateUrls,
      ...(ownOrigin && { exempt: ownOrigin }),
    });
  }

  /** Returns the bytes of the recording. Throws `InvalidParameter`, and the reason of the signal when it aborts. */
  async load(source: string, limits: PromptLimits): Promise<Buffer> {
    return source.startsWith('data:') ? decodeDataUrl(source, limits) : await this.#download(source, limits);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #download(source: string, limits: PromptLimits): Promise<Buffer> {
    if (!/^https?:/i.test(source)) throw createError(limits, 'must have an http, https or data URL');
    const { maxBytes, signal } = limits;
    try {
      return await download(this.#agent, source, { size: maxBytes, timeout: this.#timeoutMs, signal });
    } catch (error) {
      throw error instanceof DownloadError ? createError(limits, error.message) : error;
    }
  }
}

function decodeDataUrl(source: string, limits: PromptLimits): Buffer {
  const match = dataUrl.exec(source);
  if (!match?.[2] || !/^audio\//i.test(match[1] ?? '')) {
    throw createError(limits, 'must be a Base64 data URL of audio');
  }
  const bytes = Buffer.from(source.slice(match[0].length), 'base64');
  if (bytes.length > limits.maxBytes) throw createError(limits, `is larger than ${limits.maxBytes} bytes`);
  return bytes;
}

function createError({ field }: PromptLimits, problem: string): NativeError {
  return invalidParameter(`${field}: the recording ${problem}`, field);
}
