import type { Channel } from './channel.ts';
import { type FailureKind, failureKinds } from './failure-kinds.ts';
import type { ChannelFigures } from './figures.ts';
import type { Health } from './health.ts';

/** State and figures of a channel on one worker. Times are of the monotonic clock, which all workers share. */
export interface ChannelReport {
  name: string;
  state: Health['state'];
  coolDownUntil: number | undefined;
  unhealthyReason: FailureKind | undefined;
  waiting: number;
  /** Calls in progress that count against the channel's limits. */
  calls: number;
  figures: Pick<ChannelFigures, 'since' | 'requests' | 'inFlight' | 'failures' | 'lastFailure' | 'latencies'>;
}

/** Builds the report of this worker. */
export function reportChannel({ settings: { name }, health, waiting, limiter }: Channel): ChannelReport {
  const { state, coolDownUntil, unhealthyReason } = health;
  const { since, requests, inFlight, failures, lastFailure, latencies } = health.figures;
  const figures = { since, requests, inFlight, failures, lastFailure, latencies };
  return { name, state, coolDownUntil, unhealthyReason, waiting, calls: limiter.calls, figures };
}

/** From best to worst. */
const states: readonly ChannelReport['state'][] = ['healthy', 'probing', 'resting'];

/** Combines the reports of two workers: adds counts and takes the worse state. */
export function mergeReports(left: ChannelReport, right: ChannelReport): ChannelReport {
  const worse = states.indexOf(left.state) >= states.indexOf(right.state) ? left : right;
  const { figures: one } = left;
  const { figures: other } = right;
  const failures = Object.fromEntries(
    failureKinds.map((kind) => [kind, one.failures[kind] + other.failures[kind]]),
  ) as ChannelReport['figures']['failures'];
  const [lastFailure] = [one.lastFailure, other.lastFailure]
    .filter((failure) => failure !== undefined)
    .toSorted((earlier, later) => later.at - earlier.at);
  return {
    name: left.name,
    state: worse.state,
    unhealthyReason: worse.unhealthyReason,
    coolDownUntil: latest(left.coolDownUntil, right.coolDownUntil),
    waiting: left.waiting + right.waiting,
    calls: left.calls + right.calls,
    figures: {
      since: Math.min(one.since, other.since),
      requests: one.requests + other.requests,
      inFlight: one.inFlight + other.inFlight,
      failures,
      lastFailure,
      latencies: [...one.latencies, ...other.latencies],
    },
  };
}

function latest(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);
}
