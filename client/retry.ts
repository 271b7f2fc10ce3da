import { AbortError } from './errors.ts';

const firstWaitMs = 500;
const maxBackoffMs = 8_000;
const maxRetryAfterMs = 60_000;

/**
 * How long to wait before the request is repeated, in milliseconds; undefined when it must not be repeated.
 * `x-should-retry` decides where it is there. Otherwise 408, 409, 429 and 5xx but 501 are repeated. The wait is what
 * `retry-after-ms` or `retry-after` (seconds or a date) asks for, or the backoff; who is asked to wait for more than
 * 60 s gives up at once, because an earlier repeat is known to fail.
 */
export function waitAfter(response: Response, attempt: number): number | undefined {
  if (!isRepeatable(response)) return undefined;
  const asked = askedWait(response.headers);
  if (asked === undefined) return backoff(attempt);
  return asked <= maxRetryAfterMs ? asked : undefined;
}

/** Whether the answer, or the error made from it, stands for a passing failure. */
export function isRepeatable({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  const verdict = headers.get('x-should-retry');
  return verdict === 'true' || (verdict !== 'false' && isTransient(status));
}

/** Half a second, doubled at each repeat up to 8 s, less up to a quarter by chance. `attempt` counts from 0. */
export function backoff(attempt: number): number {
  const max = Math.min(firstWaitMs * 2 ** attempt, maxBackoffMs);
  return max * (1 - Math.random() * 0.25);
}

/** Resolves after `ms`. Rejects with AbortError as soon as `signal` aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

/** The error of a call that the caller stopped. */
export function aborted(signal: AbortSignal): AbortError {
  return new AbortError('The call was aborted.', { cause: signal.reason });
}

function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501);
}

/** Milliseconds that `retry-after-ms` or `retry-after` asks for; undefined when neither is there. */
export function askedWait(headers: Headers): number | undefined {
  const milliseconds = toNumber(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return milliseconds;
  const text = headers.get('retry-after');
  const seconds = toNumber(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse takes a bare number for a year; an HTTP date begins with the name of its day.
  const date = /^[a-z]/i.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function toNumber(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
