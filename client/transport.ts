import { ConnectionError, TimeoutError } from './errors.ts';
import { aborted, backoff, wait, waitAfter } from './retry.ts';

export type Fetch = (request: Request) => Promise<Response>;

export interface SendOptions {
  /** Milliseconds for one attempt. */
  timeout: number;
  /** How often a request is repeated. */
  maxRetries: number;
  /** What `timeout` covers: up to the headers of the answer, or to the end of its body. */
  timeoutCovers: 'headers' | 'body';
}

/**
 * Sends a request, and sends it again after a passing failure. Any answer is returned, also one with an error status;
 * once it is returned nothing is repeated. Throws ConnectionError, TimeoutError or AbortError, and so does reading the
 * body of the answer.
 */
export async function send(request: Request, fetch: Fetch, options: SendOptions): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const last = attempt >= options.maxRetries;
    let pause: number | undefined;
    try {
      // The body of a request can be sent once, so every attempt but the last sends a copy.
      const response = await sendOnce(last ? request : request.clone(), request, fetch, options);
      pause = last ? undefined : waitAfter(response, attempt);
      if (pause === undefined) return response;
      await response.body?.cancel();
    } catch (error) {
      if (last || !(error instanceof ConnectionError)) throw error;
      pause = backoff(attempt);
    }
    await wait(pause, request.signal);
  }
}

async function sendOnce(request: Request, original: Request, fetch: Fetch, options: SendOptions) {
  const { signal } = original;
  if (signal.aborted) throw aborted(signal);
  const call = new AbortController();
  // The signal of a request follows the one it was made with only as long as the request itself is held.
  const held = [original];
  const stop = () => call.abort(aborted(signal));
  signal.addEventListener('abort', stop);
  const timer = setTimeout(() => {
    const what = options.timeoutCovers === 'body' ? 'complete answer' : 'answer';
    call.abort(new TimeoutError(`No ${what} within ${options.timeout} ms.`));
  }, options.timeout);
  // A body that nobody reads must not keep a program alive.
  unref(timer);
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    held.length = 0;
  };
  const explain = (cause: unknown) => (call.signal.aborted ? call.signal.reason : lost(request.url, cause));

  try {
    const sent = new Request(request, { signal: call.signal });
    held.push(sent);
    const response = await fetch(sent);
    if (options.timeoutCovers === 'headers' && response.ok) clearTimeout(timer);
    return watchBody(response, release, explain);
  } catch (cause) {
    release();
    throw explain(cause);
  }
}

/** The same answer; `end` is called when its body is over, and its errors go through `explain`. */
function watchBody(response: Response, end: () => void, explain: (cause: unknown) => unknown): Response {
  if (!response.body) {
    end();
    return response;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (cause) {
          end();
          controller.error(explain(cause));
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}

function lost(url: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The connection to ${new URL(url).origin} failed: ${reason(cause)}.`, { cause });
}

/** The innermost code or message; fetch itself says no more than `fetch failed`. */
function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause) return reason(cause.cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function unref(timer: unknown): void {
  // In a browser a timer is a number.
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref();
}
