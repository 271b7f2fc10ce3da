import type { Dispatcher } from 'undici';
import { AddressError, openAddress, PrivateAddressError } from './open-address.ts';

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
    const { status, body } = await openAddress(dispatcher, source, { signal });
    if (status >= 200 && status <= 299) {
      const bytes = await body.whole(size);
      if (bytes !== undefined) return bytes;
      body.destroy();
      throw new DownloadError('size', `is larger than ${size} bytes`);
    }
    await body.dump();
    throw new DownloadError('answer', `answered with status ${status}`);
  } catch (error) {
    outer.throwIfAborted();
    if (error instanceof DownloadError) throw error;
    if (signal.aborted) throw new DownloadError('late', `did not arrive within ${timeout / 1000} seconds`);
    throw unreachable(error);
  }
}

function unreachable(error: unknown): DownloadError {
  if (error instanceof AddressError) return new DownloadError('address', error.message);
  if (error instanceof PrivateAddressError)
    return new DownloadError('address', 'is no public address, and callbacks.allow_private is not set');
  const reason = error instanceof Error ? error.message : String(error);
  return new DownloadError('answer', `could not be downloaded: ${reason}`);
}
