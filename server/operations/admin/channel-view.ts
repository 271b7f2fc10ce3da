import type { components } from '../../../generated/http.ts';
import type { Channel } from '../../channels/channel.ts';
import type { ChannelReport } from '../../channels/channel-report.ts';
import { mergeReports, reportChannel } from '../../channels/channel-report.ts';
import { percentile } from '../../channels/figures.ts';
import type { Gateway } from '../../http/gateway.ts';
import { notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';
import { countChannelTasks } from '../../store/queries/channel-spending.ts';

/** Returns a function that renders a channel for admins, with the figures of all workers of this gateway. */
export async function channelViewer({
  channels,
  clock,
  timers,
  siblings,
  store,
}: Gateway): Promise<(channel: Channel) => components['schemas']['Channel']> {
  const limited = channels.all.filter(({ limiter }) => limiter.limits.concurrentTasks !== undefined);
  const tasks = await countChannelTasks(
    store.read,
    limited.map(({ name }) => name),
  );
  const reports = (await siblings?.channels())?.flat() ?? [];
  // Converts a time of the monotonic clock.
  const toUnixTime = (at: number) => unixTime(clock() + at - timers.monotonic());
  return (channel) => {
    const { settings } = channel;
    const report = reports
      .filter(({ name }) => name === settings.name)
      .reduce(mergeReports, reportChannel(channel));
    const { state, coolDownUntil, unhealthyReason, waiting, figures } = report;
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
      unhealthy_reason: unhealthyReason ?? null,
      disabled:
        disabled === undefined
          ? null
          : {
              reason: disabled.reason,
              user_id: disabled.user_id,
              user_name: disabled.user_name,
              at: unixTime(disabled.disabled_at),
            },
      limits: limitsOf(channel, report, tasks.get(settings.name) ?? 0),
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

/** Returns the configured limits with their use. `tasks`: unfinished tasks at the provider. */
function limitsOf(
  { limiter }: Channel,
  { calls }: ChannelReport,
  tasks: number,
): components['schemas']['ChannelLimit'][] {
  const { requestsPerMinute, concurrentCalls, concurrentTasks, spendPerDay } = limiter.limits;
  const requests = (requestsPerMinute ?? 0) - (limiter.remainingRequests ?? 0);
  const all = [
    { limit: 'requests_per_minute', max: requestsPerMinute, used: requests },
    { limit: 'concurrent_calls', max: concurrentCalls, used: calls },
    { limit: 'concurrent_tasks', max: concurrentTasks, used: tasks },
    { limit: 'spend_per_day', max: spendPerDay, used: limiter.spentToday ?? 0 },
  ] as const;
  return all.flatMap(({ max, ...use }) => (max === undefined ? [] : [{ ...use, max }]));
}

/** Finds a channel by name. @throws Failure 404 when the configuration has no such channel */
export function findChannel({ channels }: Gateway, name: string): Channel {
  const channel = channels.named(name);
  if (channel === undefined) throw notFound('name', `there is no channel ${quoted(name)}.`);
  return channel;
}
