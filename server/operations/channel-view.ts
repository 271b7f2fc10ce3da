import type { components } from '../../generated/http.ts';
import type { Channel } from '../channels/channel.ts';
import { Failure } from '../failure.ts';
import { unixTime } from '../formats/generic.ts';
import type { Gateway } from '../gateway.ts';
import { quoted } from '../models/catalogue.ts';

type ShownChannel = components['schemas']['Channel'];

/** The channel as an admin sees it. */
export function shownChannel({ channels, clock, timers }: Gateway, channel: Channel): ShownChannel {
  const { settings, health, waiting } = channel;
  const { figures, restsUntil } = health;
  const disabled = channels.disabled(channel.name);
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
    state: disabled === undefined ? health.state : 'disabled',
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
      latency_p50_ms: figures.latency(50) ?? null,
      latency_p95_ms: figures.latency(95) ?? null,
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
