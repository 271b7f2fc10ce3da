import { readChunks } from '../binary-response.ts';
import type { CallOptions } from '../call.ts';
import { APIError, ConnectionError, TimeoutError, UnigateError } from '../errors.ts';
import { abortError, backoff, wait } from '../retry.ts';
import { ResponseTimer } from '../sockets/response-timer.ts';

const idleTimeoutMs = 60_000;
const defaultRetries = 5;

/** `maxRetries` (default 5) also limits consecutive lost connections without a received byte. */
export interface ReceiveOptions extends CallOptions {
  /** Called after every chunk with the bytes received and the total, if known. */
  onBytes?: (bytes: number, total: number | undefined) => void;
}

/** Requests a file, or the part in `range`. */
type OpenFile = (range: string | undefined, options: CallOptions) => Promise<Response>;

/**
 * Streams a file. After a lost connection or 60 s without data it requests the rest, and skips received bytes if the server
 * sends the whole file again. Throws UnigateError if the file changes.
 */
export async function* downloadWithResume(
  open: OpenFile,
  { onBytes, signal, ...call }: ReceiveOptions = {},
): AsyncGenerator<Uint8Array, void> {
  const { maxRetries = defaultRetries } = call;
  const never = new AbortController().signal;
  let bytes = 0;
  let file: FileInfo | undefined;
  for (let lostConnections = 0; ; lostConnections++) {
    const before = bytes;
    let opened = false;
    const attempt = new AbortController();
    const stop = () => attempt.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      const range = bytes > 0 ? `bytes=${bytes}-` : undefined;
      const response = await open(range, { ...call, maxRetries, signal: attempt.signal });
      opened = true;
      const part = readPart(response, bytes);
      file = requireSameFile(file, part);
      if (part.start > bytes)
        throw new UnigateError('The server returned another part of the file than requested.');
      for await (const chunk of skip(withIdleTimeout(response, attempt), bytes - part.start)) {
        bytes += chunk.byteLength;
        onBytes?.(bytes, file.total);
        yield chunk;
      }
      if (file.total === undefined || bytes >= file.total) return;
      throw new ConnectionError(`The connection was lost after ${bytes} of ${file.total} bytes.`);
    } catch (error) {
      if (signal?.aborted) throw abortError(signal);
      if (isCompleteAt(error, bytes)) return;
      const cause = attempt.signal.aborted ? attempt.signal.reason : error;
      if (bytes > before) lostConnections = 0;
      // `open` has already retried its own errors.
      if (!(cause instanceof ConnectionError) || !opened || lostConnections >= maxRetries) throw cause;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    await wait(backoff(lostConnections), signal ?? never);
  }
}

/** Whether the whole file had arrived before the connection was lost. */
function isCompleteAt(error: unknown, bytes: number): boolean {
  if (!(error instanceof APIError) || error.status !== 416) return false;
  return error.headers.get('content-range') === `bytes */${bytes}`;
}

interface FileInfo {
  total: number | undefined;
  etag: string | null;
}

/** `requestedStart` replaces the start of the range in browsers, which may hide `content-range`. */
function readPart({ status, headers }: Response, requestedStart: number): FileInfo & { start: number } {
  const etag = headers.get('etag');
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 206) return { start: Number(start ?? requestedStart), total: numberOf(total), etag };
  // The length of a compressed response differs from the length of the file.
  const length = headers.has('content-encoding') ? undefined : headers.get('content-length');
  return { start: 0, total: numberOf(length), etag };
}

function requireSameFile(known: FileInfo | undefined, { total, etag }: FileInfo): FileInfo {
  const isChanged =
    (known?.total !== undefined && total !== undefined && known.total !== total) ||
    (known?.etag && etag && known.etag !== etag);
  if (isChanged) throw new UnigateError('The file changed during the download.');
  return { total: known?.total ?? total, etag: known?.etag ?? etag };
}

/** Yields the chunks of a response. Aborts the attempt after 60 s without data. */
async function* withIdleTimeout(
  response: Response,
  attempt: AbortController,
): AsyncGenerator<Uint8Array, void> {
  if (!response.body) return;
  const chunks = readChunks(response.body);
  const timer = new ResponseTimer(idleTimeoutMs, () =>
    attempt.abort(new TimeoutError(`No data received for ${idleTimeoutMs} ms.`)),
  );
  try {
    for (;;) {
      timer.expect();
      const { done, value } = await chunks.next();
      timer.received();
      if (done) return;
      yield value;
    }
  } finally {
    timer.end();
    await chunks.return();
  }
}

async function* skip(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array, void> {
  let remaining = count;
  for await (const chunk of chunks) {
    const skipped = Math.min(remaining, chunk.byteLength);
    remaining -= skipped;
    if (skipped < chunk.byteLength) yield chunk.subarray(skipped);
  }
}

function numberOf(text: string | null | undefined): number | undefined {
  return text ? Number(text) : undefined;
}
