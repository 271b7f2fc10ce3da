import { Agent, fetch, type Response } from 'undici';
import { invalidParameter, type NativeError } from '../http/native-error.ts';
import { isPrivateAddress, lookupPublic } from './private-addresses.ts';

export interface PromptLimits {
  /** Name of the field, for refusals. */
  field: string;
  /** Most bytes. */
  size: number;
  signal: AbortSignal;
}

export interface PromptLoaderOptions {
  /** Fetch from loopback and private networks, too. */
  allowPrivateUrls: boolean;
  /** Milliseconds that one download may take. */
  timeout?: number;
}

const mostRedirects = 3;
const dataUrl = /^data:([^;,]*)(;base64)?,/i;

/** Gets the recordings that voices are cloned from: an http(s) address, or a Base64 data URL. */
export class PromptLoader {
  readonly #allowPrivate: boolean;
  readonly #timeout: number;
  readonly #agent: Agent;

  constructor({ allowPrivateUrls, timeout = 10_000 }: PromptLoaderOptions) {
    this.#allowPrivate = allowPrivateUrls;
    this.#timeout = timeout;
    // Checked where the name is resolved, so that it cannot resolve to something else a moment later.
    this.#agent = new Agent({ connect: allowPrivateUrls ? {} : { lookup: lookupPublic } });
  }

  /** The bytes of the recording. Throws `InvalidParameter`, and the signal's reason when it aborts. */
  async load(source: string, limits: PromptLimits): Promise<Buffer> {
    return source.startsWith('data:') ? decodeDataUrl(source, limits) : await this.#download(source, limits);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #download(source: string, limits: PromptLimits): Promise<Buffer> {
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(this.#timeout)]);
    try {
      const response = await this.#follow(source, limits, signal);
      if (!response.ok) throw refusal(limits, `answered with status ${response.status}`);
      return await readLimited(response, limits);
    } catch (error) {
      limits.signal.throwIfAborted();
      if (signal.aborted) throw refusal(limits, `did not arrive within ${this.#timeout / 1000} seconds`);
      if (error instanceof TypeError) throw refusal(limits, `could not be downloaded: ${reasonOf(error)}`);
      throw error;
    }
  }

  async #follow(source: string, limits: PromptLimits, signal: AbortSignal): Promise<Response> {
    let url = URL.parse(source);
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      if (!url || !/^https?:$/.test(url.protocol)) throw refusal(limits, 'is no http, https or data address');
      if (!this.#allowPrivate && isPrivateAddress(url.hostname))
        throw refusal(limits, 'is no public address');
      const response = await fetch(url, { dispatcher: this.#agent, redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      url = URL.parse(location, url);
    }
    throw refusal(limits, `redirects more than ${mostRedirects} times`);
  }
}

async function readLimited({ body }: Response, limits: PromptLimits): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    const bytes = part as Uint8Array;
    length += bytes.length;
    if (length > limits.size) throw tooLarge(limits);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function decodeDataUrl(source: string, limits: PromptLimits): Buffer {
  const match = dataUrl.exec(source);
  if (!match?.[2] || !/^audio\//i.test(match[1] ?? '')) {
    throw refusal(limits, 'is no Base64 data URL of audio');
  }
  const bytes = Buffer.from(source.slice(match[0].length), 'base64');
  if (bytes.length > limits.size) throw tooLarge(limits);
  return bytes;
}

function tooLarge(limits: PromptLimits): NativeError {
  return refusal(limits, `is larger than ${limits.size} bytes`);
}

function refusal({ field }: PromptLimits, problem: string): NativeError {
  return invalidParameter(`${field}: the recording ${problem}`, field);
}

function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
