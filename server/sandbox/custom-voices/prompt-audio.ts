import type { Agent } from 'undici';
import { DownloadError, download } from '../../outbound/download.ts';
import { outboundAgent } from '../../outbound/open-url.ts';
import { invalidParameter, type NativeError } from '../http/native-error.ts';

interface PromptLimits {
  /** Name of the field, for refusals. */
  field: string;
  /** Most bytes. */
  size: number;
  signal: AbortSignal;
}

interface PromptLoaderOptions {
  /** Fetch from loopback and private networks, too. */
  allowPrivateUrls: boolean;
  /** Origin of this upstream's own files, which are there for it in any case. */
  ownAddress?: () => string;
  /** Milliseconds that one download may take. */
  timeout?: number;
}

const dataUrl = /^data:([^;,]*)(;base64)?,/i;

/** Gets the recordings that voices are cloned from: an http(s) address, or a Base64 data URL. */
export class PromptLoader {
  readonly #timeout: number;
  readonly #agent: Agent;

  constructor({ allowPrivateUrls, ownAddress, timeout = 10_000 }: PromptLoaderOptions) {
    this.#timeout = timeout;
    this.#agent = outboundAgent({
      allowPrivate: allowPrivateUrls,
      ...(ownAddress && { exempt: ownAddress }),
    });
  }

  /** The bytes of the recording. Throws `InvalidParameter`, and the signal's reason when it aborts. */
  async load(source: string, limits: PromptLimits): Promise<Buffer> {
    return source.startsWith('data:') ? decodeDataUrl(source, limits) : await this.#download(source, limits);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #download(source: string, limits: PromptLimits): Promise<Buffer> {
    if (!/^https?:/i.test(source)) throw refusal(limits, 'is no http, https or data address');
    const { size, signal } = limits;
    try {
      return await download(this.#agent, source, { size, timeout: this.#timeout, signal });
    } catch (error) {
      throw error instanceof DownloadError ? refusal(limits, error.message) : error;
    }
  }
}

function decodeDataUrl(source: string, limits: PromptLimits): Buffer {
  const match = dataUrl.exec(source);
  if (!match?.[2] || !/^audio\//i.test(match[1] ?? '')) {
    throw refusal(limits, 'is no Base64 data URL of audio');
  }
  const bytes = Buffer.from(source.slice(match[0].length), 'base64');
  if (bytes.length > limits.size) throw refusal(limits, `is larger than ${limits.size} bytes`);
  return bytes;
}

function refusal({ field }: PromptLimits, problem: string): NativeError {
  return invalidParameter(`${field}: the recording ${problem}`, field);
}
