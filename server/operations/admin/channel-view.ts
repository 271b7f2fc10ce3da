import type { components } from '../../../generated/http.ts';
import type { Channel } from '../../channels/channel.ts';
import { type ChannelReport, mergeReports, reportChannel } from '../../channels/channel-report.ts';
import { percentile } from '../../channels/figures.ts';
import type { Gateway } from '../../http/gateway.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';

type ShownChannel = components['schemas']['Channel'];

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
  elsewhere: readonly ChannelReport[],
): ShownChannel {
  const { settings } = channel;
  const { state, coolDownUntil, waiting, figures } = elsewhere
    .filter(({ name }) => name === settings.name)
    .reduce(mergeReports, reportChannel(channel));
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
    resting_until: coolDownUntil === undefined ? null : told(coolDownUntil),
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

/** @throws Failure 404 when the configuration has no such channel */
export function channelNamed({ channels }: Gateway, name: string): Channel {
  const channel = channels.named(name);
  if (channel === undefined)
    throw new Failure(404, 'resource_not_found', `name: there is no channel ${quoted(name)}.`);
  return channel;
}
