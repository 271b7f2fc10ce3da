import type { components } from '../../../generated/http.ts';
import type { Channel } from '../../channels/channel.ts';
import { mergeReports, reportChannel } from '../../channels/channel-report.ts';
import { percentile } from '../../channels/figures.ts';
import type { Gateway } from '../../http/gateway.ts';
import { notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';

/** Returns a function that renders a channel for admins, with the figures of all workers of this gateway. */
export async function channelViewer({
  channels,
  clock,
  timers,
  siblings,
}: Gateway): Promise<(channel: Channel) => components['schemas']['Channel']> {
  const reports = (await siblings?.channels())?.flat() ?? [];
  // Converts a time of the monotonic clock.
  const toUnixTime = (at: number) => unixTime(clock() + at - timers.monotonic());
  return (channel) => {
    const { settings } = channel;
    const { state, coolDownUntil, waiting, figures } = reports
      .filter(({ name }) => name === settings.name)
      .reduce(mergeReports, reportChannel(channel));
    const disabled = channels.disabled(settings.name);
    const { lastFailure } = figures;
    return {
      name: settings.name,
      protocol: settings.protocol,
      host: new URL(settings.baseUrl).host,
      models: settings.models.map(({ id }) => id),
      groups: settings.groups === undefined ? null : [...settings.groups],
      priority: settings.priority,
      weight: settings.weight,
      state: disabled === undefined ? state : 'disabled',
      resting_until: coolDownUntil === undefined ? null : toUnixTime(coolDownUntil),
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
        since: toUnixTime(figures.since),
        requests: figures.requests,
        in_flight: figures.inFlight,
        waiting,
        failures: { ...figures.failures },
        latency_p50_ms: percentile(figures.latencies, 50) ?? null,
        latency_p95_ms: percentile(figures.latencies, 95) ?? null,
        last_failure:
          lastFailure === undefined ? null : { kind: lastFailure.kind, at: toUnixTime(lastFailure.at) },
      },
    };
  };
}

/** Finds a channel by name. @throws Failure 404 when the configuration has no such channel */
export function findChannel({ channels }: Gateway, name: string): Channel {
  const channel = channels.named(name);
  if (channel === undefined) throw notFound('name', `there is no channel ${quoted(name)}.`);
  return channel;
}
