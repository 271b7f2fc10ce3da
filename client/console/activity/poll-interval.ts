import { session } from '../session/session.ts';

const minIntervalMs = 2_000;
/** Share of the request limit of the key that one list may use. */
const maxShare = 1 / 8;

/** Returns the time between two polls in milliseconds. It is longer if the key has a low limit of requests. */
export function pollIntervalMs(): number {
  const perMinute = session.peek()?.me.limits.requests_per_minute ?? 0;
  return perMinute === 0 ? minIntervalMs : Math.max(minIntervalMs, 60_000 / (perMinute * maxShare));
}
