import { type Dispatcher, fetch, type Response } from 'undici';
import { PrivateAddressError } from './public-addresses.ts';

export interface DownloadLimits {
  /** Most bytes. */
  size: number;
  /** Milliseconds for all of it, redirects included. */
  timeout: number;
  signal: AbortSignal;
}

/** Why there is no file. The message goes on from a subject: `is larger than 9 bytes`. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly kind: 'address' | 'answer' | 'size' | 'late';

  constructor(kind: DownloadError['kind'], problem: string) {
    super(problem);
    this.kind = kind;
  }
}

const mostRedirects = 3;

/**
 * The bytes behind an http or https address. Connections are the dispatcher's, so it decides whom to reach.
 *
 * @throws DownloadError, and the signal's reason when it aborts
 */
export async function download(
  dispatcher: Dispatcher,
  source: string,
  { size, timeout, signal: outer }: DownloadLimits,
): Promise<Buffer> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeout)]);
  try {
    const response = await follow(dispatcher, source, signal);
    if (response.ok) return await readLimited(response, size);
    await response.body?.cancel();
    throw new DownloadError('answer', `answered with status ${response.status}`);
  } catch (error) {
    outer.throwIfAborted();
    if (error instanceof DownloadError) throw error;
    if (signal.aborted) throw new DownloadError('late', `did not arrive within ${timeout / 1000} seconds`);
    throw unreachable(error);
  }
}

async function follow(dispatcher: Dispatcher, source: string, signal: AbortSignal): Promise<Response> {
  let url = URL.parse(source);
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    if (!url || !/^https?:$/.test(url.protocol))
      throw new DownloadError('address', 'is no http or https address');
    const response = await fetch(url, { dispatcher, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    url = URL.parse(location, url);
  }
  throw new DownloadError('answer', `redirects more than ${mostRedirects} times`);
}

async function readLimited({ body }: Response, size: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    const bytes = part as Uint8Array;
    length += bytes.length;
    if (length > size) throw new DownloadError('size', `is larger than ${size} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function unreachable(error: unknown): DownloadError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof PrivateAddressError) return new DownloadError('address', 'is no public address');
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DownloadError('answer', `could not be downloaded: ${reason}`);
}
