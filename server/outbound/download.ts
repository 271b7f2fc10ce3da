import type { Dispatcher } from 'undici';
import { openUrl, PrivateAddressError, UrlError } from './open-url.ts';

export interface DownloadLimits {
  /** Maximum number of bytes. */
  size: number;
  /** Milliseconds for the whole download, including redirects. */
  timeout: number;
  signal: AbortSignal;
}

/** A failed download. The message continues a subject: `is larger than 9 bytes`. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly kind: 'url' | 'response' | 'size' | 'timeout';

  constructor(kind: DownloadError['kind'], problem: string) {
    super(problem);
    this.kind = kind;
  }
}

/** Downloads an http or https URL. @throws DownloadError, and the signal's reason when it aborts */
export async function download(
  dispatcher: Dispatcher,
  source: string,
  { size, timeout, signal: outer }: DownloadLimits,
): Promise<Buffer> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeout)]);
  try {
    const { status, body } = await openUrl(dispatcher, source, { signal });
    if (status >= 200 && status <= 299) {
      const bytes = await body.readAll(size);
      if (bytes !== undefined) return bytes;
      body.destroy();
      throw new DownloadError('size', `is larger than ${size} bytes`);
    }
    await body.dump();
    throw new DownloadError('response', `answered with status ${status}`);
  } catch (error) {
    outer.throwIfAborted();
    if (error instanceof DownloadError) throw error;
    if (signal.aborted) throw new DownloadError('timeout', `did not arrive within ${timeout / 1000} seconds`);
    throw downloadError(error);
  }
}

function downloadError(error: unknown): DownloadError {
  if (error instanceof UrlError) return new DownloadError('url', error.message);
  if (error instanceof PrivateAddressError)
    return new DownloadError('url', 'is not a public address, and `callbacks.allow_private` is not set');
  const reason = error instanceof Error ? error.message : String(error);
  return new DownloadError('response', `could not be downloaded: ${reason}`);
}
