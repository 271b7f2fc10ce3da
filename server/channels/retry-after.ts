import type { IncomingHttpHeaders } from 'node:http';

/** Limits a provider's pause, so that one long `retry-after` does not block other requests for as long. */
const maxRetryAfterSeconds = 300;

const seconds = /^\d+$/;
/** IMF-fixdate, the only date format that servers may send. */
const date = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads `retry-after` in whole seconds, at most 300. Undefined if the header is missing or malformed. */
export function readRetryAfter({
  'retry-after': retryAfter = '',
  date: sentAt = '',
}: IncomingHttpHeaders): number | undefined {
  if (seconds.test(retryAfter)) return Math.min(maxRetryAfterSeconds, Number(retryAfter));
  if (!date.test(retryAfter)) return undefined;
  // The provider's clock may differ from ours.
  const now = date.test(sentAt) ? Date.parse(sentAt) : Date.now();
  const pause = Math.ceil((Date.parse(retryAfter) - now) / 1_000);
  return Number.isNaN(pause) ? undefined : Math.min(maxRetryAfterSeconds, Math.max(0, pause));
}
