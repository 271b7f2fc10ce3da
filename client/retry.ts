import { AbortError } from './errors.ts';

const initialBackoffMs = 500;
const maxBackoffMs = 8_000;
const maxRetryAfterMs = 60_000;

/**
 * Returns the delay before a retry in milliseconds, or undefined if the request must not be retried. `x-should-retry`
 * decides if present. Otherwise 408, 409, 429 and 5xx except 501 are retried. The delay is that of `retry-after-ms` or
 * `retry-after` (seconds or a date), otherwise the backoff. A requested delay of more than 60 s prevents a retry.
 */
export function retryDelay(response: Response, attempt: number): number | undefined {
  if (!isRetryable(response)) return undefined;
  const requested = retryAfterMs(response.headers);
  if (requested === undefined) return backoff(attempt);
  return requested <= maxRetryAfterMs ? requested : undefined;
}

/** Whether a response or its error is a transient failure. */
export function isRetryable({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  const verdict = headers.get('x-should-retry');
  return verdict === 'true' || (verdict !== 'false' && isTransient(status));
}

/** Returns 0.5 s, doubled for each attempt up to 8 s, minus a random part of up to 25 %. `attempt` starts at 0. */
export function backoff(attempt: number): number {
  const max = Math.min(initialBackoffMs * 2 ** attempt, maxBackoffMs);
  return max * (1 - Math.random() * 0.25);
}

/** Resolves after `ms`. Rejects with AbortError as soon as `signal` aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(abortError(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

/** Creates the error of an aborted call. */
export function abortError(signal: AbortSignal): AbortError {
  return new AbortError('The call was aborted.', { cause: signal.reason });
}

function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501);
}

/** Returns the delay of `retry-after-ms` or `retry-after` in milliseconds. Undefined without these headers. */
export function retryAfterMs(headers: Headers): number | undefined {
  const milliseconds = toNumber(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return milliseconds;
  const text = headers.get('retry-after');
  const seconds = toNumber(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse reads a bare number as a year. An HTTP date starts with the name of a day.
  const date = /^[a-z]/i.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function toNumber(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
