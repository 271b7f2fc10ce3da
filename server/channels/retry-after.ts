import type { IncomingHttpHeaders } from 'node:http';

/** A provider can ask for no longer pause than this, in seconds: nobody's hour may stop what others are waiting for. */
const maxPauseSeconds = 300;

const seconds = /^\d+$/;
/** The one form of a date that is still written. */
const date = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The whole seconds that an answer asks to wait, 300 at the most; undefined when it does not say so as it should. */
export function readRetryAfter({
  'retry-after': asked = '',
  date: sentAt = '',
}: IncomingHttpHeaders): number | undefined {
  if (seconds.test(asked)) return Math.min(maxPauseSeconds, Number(asked));
  if (!date.test(asked)) return undefined;
  // By the provider's own clock where it says so it, which may not be ours.
  const now = date.test(sentAt) ? Date.parse(sentAt) : Date.now();
  const pause = Math.ceil((Date.parse(asked) - now) / 1_000);
  return Number.isNaN(pause) ? undefined : Math.min(maxPauseSeconds, Math.max(0, pause));
}
