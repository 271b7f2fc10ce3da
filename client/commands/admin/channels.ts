import type { Channel } from '../../admin/channels.ts';
import { UnigateError } from '../../errors.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging } from './options.ts';
import { type Columns, type Output, time } from './output.ts';

const columnsOf = (output: Output): Columns<Channel> => ({
  name: ({ name }) => name,
  protocol: ({ protocol }) => protocol,
  host: ({ host }) => host,
  priority: ({ priority }) => priority,
  weight: ({ weight }) => weight,
  state: ({ state, resting_until, unhealthy_reason: reason }) => {
    const shown =
      state === 'resting' && resting_until !== null ? `cool-down until ${time(resting_until)}` : state;
    return reason === null || state === 'disabled' ? shown : `${shown} (${reason})`;
  },
  limits: ({ limits }) =>
    limits
      .map(({ limit, used, max }) => {
        const format = limit === 'spend_per_day' ? output.amount : String;
        return `${limit} ${format(used)}/${format(max)}`;
      })
      .join(', '),
  requests: ({ figures }) => figures.requests,
  failures: ({ figures }) => Object.values(figures.failures).reduce((sum, count) => sum + count, 0),
  'p95 ms': ({ figures }) => figures.latency_p95_ms,
  last: ({ figures: { last_failure: last } }) => last && `${last.kind} ${time(last.at)}`,
  reason: ({ disabled }) => disabled?.reason,
});

export const channelCommands: Readonly<Record<string, AdminCommand>> = {
  'channels list': command({
    description: 'list channels with their health and metrics',
    options: paging,
    examples: ['channels list', 'channels list --json'],
    async run({ client, options, output, signal }) {
      const page = await client.admin.channels.list(pageOf(options), { signal });
      await output.readCurrency(client, signal);
      output.page(page, columnsOf(output), options);
    },
  }),
  'channels test': command({
    argument: 'NAME',
    description: 'test a channel with a small real call',
    options: {},
    examples: ['channels test native-eu'],
    async run({ client, text, output, signal }) {
      const result = await client.admin.channels.test(text, { signal });
      const { ok, request, model, status, duration_ms, failure, problem } = result;
      output.fields({ ok, request, model, status, milliseconds: duration_ms, failure, problem }, result);
      if (!ok) throw new UnigateError(`The test of ${text} failed.`);
    },
  }),
  'channels enable': command({
    argument: 'NAME',
    description: 'enable a channel',
    options: {},
    examples: ['channels enable native-eu'],
    async run({ client, text, output, signal }) {
      const channel = await client.admin.channels.enable(text, { signal });
      await output.readCurrency(client, signal);
      output.table([channel], columnsOf(output), channel);
    },
  }),
  'channels disable': command({
    argument: 'NAME',
    description: 'disable a channel on all gateways',
    options: {
      reason: { argument: 'TEXT', description: 'reason, shown to other admins', required: true },
    },
    examples: ['channels disable native-eu --reason "their maintenance until noon"'],
    async run({ client, text, options: { reason }, output, signal }) {
      const channel = await client.admin.channels.disable(text, reason, { signal });
      await output.readCurrency(client, signal);
      output.table([channel], columnsOf(output), channel);
    },
  }),
};
