import { readChunks } from '../byte-answer.ts';
import type { CallOptions } from '../call.ts';
import { APIError, ConnectionError, TimeoutError, UnigateError } from '../errors.ts';
import { aborted, backoff, wait } from '../retry.ts';
import { SilenceTimer } from '../sockets/silence-timer.ts';

const maxSilenceMs = 60_000;
const defaultRetries = 5;

/** `maxRetries`, 5 when it is left out, also says how often a connection may break without a byte having come. */
export interface ReceiveOptions extends CallOptions {
  /** Called after every piece with how many bytes have come, and how many there are where that is known. */
  onBytes?: (bytes: number, total: number | undefined) => void;
}

/** Opens a file: the part that `range` names, or all of it. */
type OpenFile = (range: string | undefined, options: CallOptions) => Promise<Response>;

/**
 * The bytes of a file as they come. After a broken connection, or a minute of silence, the rest is asked for; where the
 * whole file comes again, what is here already is passed over. Throws UnigateError when the file has become another.
 */
export async function* readResuming(
  open: OpenFile,
  { onBytes, signal, ...call }: ReceiveOptions = {},
): AsyncGenerator<Uint8Array, void> {
  const { maxRetries = defaultRetries } = call;
  const never = new AbortController().signal;
  let bytes = 0;
  let file: FileFacts | undefined;
  for (let breaks = 0; ; breaks++) {
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
      file = sameFile(file, part);
      if (part.start > bytes) throw new UnigateError('Another part of the file came than was asked for.');
      for await (const chunk of skip(heard(response, attempt), bytes - part.start)) {
        bytes += chunk.byteLength;
        onBytes?.(bytes, file.total);
        yield chunk;
      }
      if (file.total === undefined || bytes >= file.total) return;
      throw new ConnectionError(`The connection broke after ${bytes} of ${file.total} bytes.`);
    } catch (error) {
      if (signal?.aborted) throw aborted(signal);
      if (isBehindEnd(error, bytes)) return;
      const cause = attempt.signal.aborted ? attempt.signal.reason : error;
      if (bytes > before) breaks = 0;
      // What `open` throws was repeated there already.
      if (!(cause instanceof ConnectionError) || !opened || breaks >= maxRetries) throw cause;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    await wait(backoff(breaks), signal ?? never);
  }
}

/** All had come when the connection broke: there is no more to ask for. */
function isBehindEnd(error: unknown, bytes: number): boolean {
  if (!(error instanceof APIError) || error.status !== 416) return false;
  return error.headers.get('content-range') === `bytes */${bytes}`;
}

interface FileFacts {
  total: number | undefined;
  etag: string | null;
}

/** `asked` is where the part should start, for browsers that do not show where it does. */
function readPart({ status, headers }: Response, asked: number): FileFacts & { start: number } {
  const etag = headers.get('etag');
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 206) return { start: Number(start ?? asked), total: numberOf(total), etag };
  // The length of what is compressed is not that of the bytes that come out.
  const length = headers.has('content-encoding') ? undefined : headers.get('content-length');
  return { start: 0, total: numberOf(length), etag };
}

function sameFile(known: FileFacts | undefined, { total, etag }: FileFacts): FileFacts {
  const other =
    (known?.total !== undefined && total !== undefined && known.total !== total) ||
    (known?.etag && etag && known.etag !== etag);
  if (other) throw new UnigateError('The file became another while it was downloaded.');
  return { total: known?.total ?? total, etag: known?.etag ?? etag };
}

/** The chunks of an answer; a long silence aborts the attempt. */
async function* heard(response: Response, attempt: AbortController): AsyncGenerator<Uint8Array, void> {
  if (!response.body) return;
  const chunks = readChunks(response.body);
  const silence = new SilenceTimer(maxSilenceMs, () =>
    attempt.abort(new TimeoutError(`Nothing came for ${maxSilenceMs} ms.`)),
  );
  try {
    for (;;) {
      silence.owe();
      const { done, value } = await chunks.next();
      silence.settle();
      if (done) return;
      yield value;
    }
  } finally {
    silence.end();
    await chunks.return();
  }
}

async function* skip(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array, void> {
  let left = count;
  for await (const chunk of chunks) {
    const skipped = Math.min(left, chunk.byteLength);
    left -= skipped;
    if (skipped < chunk.byteLength) yield chunk.subarray(skipped);
  }
}

function numberOf(text: string | null | undefined): number | undefined {
  return text ? Number(text) : undefined;
}
