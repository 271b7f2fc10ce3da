import type { Channel } from '../../admin/channels.ts';
import { UnigateError } from '../../errors.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<Channel> = {
  name: ({ name }) => name,
  protocol: ({ protocol }) => protocol,
  host: ({ host }) => host,
  priority: ({ priority }) => priority,
  weight: ({ weight }) => weight,
  state: ({ state, resting_until }) =>
    state === 'resting' && resting_until !== null ? `resting until ${time(resting_until)}` : state,
  requests: ({ figures }) => figures.requests,
  failures: ({ figures }) => Object.values(figures.failures).reduce((sum, count) => sum + count, 0),
  'p95 ms': ({ figures }) => figures.latency_p95_ms,
  last: ({ figures: { last_failure: last } }) => last && `${last.kind} ${time(last.at)}`,
  reason: ({ disabled }) => disabled?.reason,
};

export const channelCommands: Readonly<Record<string, AdminCommand>> = {
  'channels list': command({
    does: 'list channels with their health and figures',
    options: paging,
    examples: ['channels list', 'channels list --json'],
    async run({ client, options, output, signal }) {
      output.page(await client.admin.channels.list(pageOf(options), { signal }), columns, options);
    },
  }),
  'channels test': command({
    takes: 'NAME',
    does: 'try a channel with a small real call',
    options: {},
    examples: ['channels test native-eu'],
    async run({ client, text, output, signal }) {
      const result = await client.admin.channels.test(text, { signal });
      const { ok, request, model, status, duration_ms, failure, problem } = result;
      output.facts({ ok, request, model, status, milliseconds: duration_ms, failure, problem }, result);
      if (!ok) throw new UnigateError(`${text} did not answer as it should.`);
    },
  }),
  'channels enable': command({
    takes: 'NAME',
    does: 'send work to a channel again',
    options: {},
    examples: ['channels enable native-eu'],
    async run({ client, text, output, signal }) {
      const channel = await client.admin.channels.enable(text, { signal });
      output.table([channel], columns, channel);
    },
  }),
  'channels disable': command({
    takes: 'NAME',
    does: 'send a channel no more work, on any gateway',
    options: { reason: { takes: 'TEXT', does: 'why, for everyone who finds it disabled', required: true } },
    examples: ['channels disable native-eu --reason "their maintenance until noon"'],
    async run({ client, text, options: { reason }, output, signal }) {
      const channel = await client.admin.channels.disable(text, reason, { signal });
      output.table([channel], columns, channel);
    },
  }),
};
