import type { components } from '../../../generated/http.ts';
import type { Channel } from '../../channels/channel.ts';
import { failureKinds, percentile } from '../../channels/figures.ts';
import type { ChannelStanding, Gateway } from '../../http/gateway.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';

type ShownChannel = components['schemas']['Channel'];

/** How a channel does here. */
export function standingOf({ settings: { name }, health, waiting }: Channel): ChannelStanding {
  const { state, restsUntil } = health;
  const { since, requests, inFlight, failures, lastFailure, latencies } = health.figures;
  const figures = { since, requests, inFlight, failures, lastFailure, latencies };
  return { name, state, restsUntil, waiting, figures };
}

/** Channels as an admin sees them: what is measured, over all workers of this gateway. */
export async function shownChannels(gateway: Gateway, channels: readonly Channel[]): Promise<ShownChannel[]> {
  const elsewhere = (await gateway.siblings?.channels())?.flat() ?? [];
  return channels.map((channel) => shown(gateway, channel, elsewhere));
}

/** The channel as an admin sees it. */
export async function shownChannel(gateway: Gateway, channel: Channel): Promise<ShownChannel> {
  return shown(gateway, channel, (await gateway.siblings?.channels())?.flat() ?? []);
}

function shown(
  { channels, clock, timers }: Gateway,
  channel: Channel,
  elsewhere: readonly ChannelStanding[],
): ShownChannel {
  const { settings } = channel;
  const { state, restsUntil, waiting, figures } = elsewhere
    .filter(({ name }) => name === settings.name)
    .reduce(together, standingOf(channel));
  const disabled = channels.disabled(settings.name);
  // What is measured by the monotonic clock, told by the one that people read.
  const told = (at: number) => unixTime(clock() + at - timers.monotonic());
  return {
    name: settings.name,
    protocol: settings.protocol,
    host: new URL(settings.baseUrl).host,
    models: settings.models.map(({ id }) => id),
    groups: settings.groups === undefined ? null : [...settings.groups],
    priority: settings.priority,
    weight: settings.weight,
    state: disabled === undefined ? state : 'disabled',
    resting_until: restsUntil === undefined ? null : told(restsUntil),
    disabled:
      disabled === undefined
        ? null
        : {
            reason: disabled.reason,
            user_id: disabled.user_id,
            user_name: disabled.user_name,
            at: unixTime(disabled.disabled_at),
          },
    figures: {
      since: told(figures.since),
      requests: figures.requests,
      in_flight: figures.inFlight,
      waiting,
      failures: { ...figures.failures },
      latency_p50_ms: percentile(figures.latencies, 50) ?? null,
      latency_p95_ms: percentile(figures.latencies, 95) ?? null,
      last_failure:
        figures.lastFailure === undefined
          ? null
          : { kind: figures.lastFailure.kind, at: told(figures.lastFailure.at) },
    },
  };
}

/** From the best to the worst. */
const states: readonly ChannelStanding['state'][] = ['healthy', 'probing', 'resting'];

/** Two workers' standing as one: what was counted is added up, and the state is the worse one. */
function together(left: ChannelStanding, right: ChannelStanding): ChannelStanding {
  const worse = states.indexOf(left.state) >= states.indexOf(right.state) ? left : right;
  const { figures: one } = left;
  const { figures: other } = right;
  const failures = Object.fromEntries(
    failureKinds.map((kind) => [kind, one.failures[kind] + other.failures[kind]]),
  ) as ChannelStanding['figures']['failures'];
  const [lastFailure] = [one.lastFailure, other.lastFailure]
    .filter((failure) => failure !== undefined)
    .toSorted((earlier, later) => later.at - earlier.at);
  return {
    name: left.name,
    state: worse.state,
    restsUntil: latest(left.restsUntil, right.restsUntil),
    waiting: left.waiting + right.waiting,
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

/** @throws Failure 404 when the configuration has no such channel */
export function channelNamed({ channels }: Gateway, name: string): Channel {
  const channel = channels.named(name);
  if (channel === undefined)
    throw new Failure(404, 'resource_not_found', `name: there is no channel ${quoted(name)}.`);
  return channel;
}
