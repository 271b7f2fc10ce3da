import { connectionReason } from './connection-reason.ts';
import { ConnectionError, TimeoutError } from './errors.ts';
import { type Logger, RequestLog } from './logger.ts';
import { abortError, backoff, retryDelay, wait } from './retry.ts';

export type Fetch = (request: Request) => Promise<Response>;

export interface SendOptions {
  /** Timeout of one attempt, in milliseconds. */
  timeout: number;
  /** Maximum number of retries. */
  maxRetries: number;
  /** Whether `timeout` applies until the headers arrive, or until the end of the body. */
  timeoutCovers: 'headers' | 'body';
  /** Receives an entry for each attempt. */
  logger?: Logger | undefined;
}

/**
 * Sends a request and retries it after a transient failure. Returns every final response, including those with an error
 * status. Throws ConnectionError, TimeoutError or AbortError; reading the body can throw them too.
 */
export async function send(request: Request, fetch: Fetch, options: SendOptions): Promise<Response> {
  const log = new RequestLog(options.logger, request);
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= options.maxRetries;
    let delay: number | undefined;
    log.start();
    try {
      // A request body can be sent once, so every attempt except the last sends a copy.
      const response = await sendOnce(isLast ? request : request.clone(), request, fetch, options);
      log.response(response);
      delay = isLast ? undefined : retryDelay(response, attempt);
      if (delay === undefined) return response;
      await response.body?.cancel();
    } catch (error) {
      log.error(error);
      if (isLast || !(error instanceof ConnectionError)) throw error;
      delay = backoff(attempt);
    }
    log.retry(delay);
    await wait(delay, request.signal);
  }
}

async function sendOnce(request: Request, original: Request, fetch: Fetch, options: SendOptions) {
  const { signal } = original;
  if (signal.aborted) throw abortError(signal);
  const call = new AbortController();
  // The signal of a request follows its source signal only while the request is referenced.
  const references = [original];
  const stop = () => call.abort(abortError(signal));
  signal.addEventListener('abort', stop);
  const timer = setTimeout(() => {
    const expected = options.timeoutCovers === 'body' ? 'complete response' : 'response';
    call.abort(new TimeoutError(`No ${expected} within ${options.timeout} ms.`));
  }, options.timeout);
  // An unread body must not keep the process alive.
  unref(timer);
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    references.length = 0;
  };
  const toCallError = (cause: unknown) =>
    call.signal.aborted ? call.signal.reason : connectionError(request.url, cause);

  try {
    const sent = new Request(request, { signal: call.signal });
    references.push(sent);
    const response = await fetch(sent);
    if (options.timeoutCovers === 'headers' && response.ok) clearTimeout(timer);
    return watchBody(response, release, toCallError);
  } catch (cause) {
    release();
    throw toCallError(cause);
  }
}

/** Returns the response with a body that calls `onEnd` at its end and converts errors with `toCallError`. */
function watchBody(
  response: Response,
  onEnd: () => void,
  toCallError: (cause: unknown) => unknown,
): Response {
  if (!response.body) {
    onEnd();
    return response;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (cause) {
          onEnd();
          controller.error(toCallError(cause));
        }
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}

function connectionError(url: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The connection to ${new URL(url).origin} failed: ${connectionReason(cause)}.`, {
    cause,
  });
}

function unref(timer: unknown): void {
  // In browsers a timer is a number.
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref();
}
