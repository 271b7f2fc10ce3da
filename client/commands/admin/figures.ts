import type { Figures } from '../../admin/admin.ts';
import { UsageError } from '../usage-error.ts';
import { command } from './command.ts';
import { parseInteger, parseTime } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const groupings = ['hour', 'day', 'model', 'channel', 'operation', 'user', 'key', 'member'] as const;
type Grouping = (typeof groupings)[number];
type Group = Figures['items'][number];

const groupColumns: Readonly<Record<Grouping, (group: Group) => string | number | undefined>> = {
  hour: ({ hour }) => time(hour),
  day: ({ day }) => time(day).slice(0, 10),
  model: ({ model }) => model,
  channel: ({ channel }) => channel,
  operation: ({ operation }) => operation,
  user: ({ user_id }) => user_id,
  key: ({ token_id }) => token_id,
  member: ({ member_id, member_name }) => (member_id === null ? '' : `${member_name} (${member_id})`),
};

const columns: Columns<Group> = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  quota: ({ quota }) => amountOf(quota),
  refunded: ({ refunded }) => amountOf(refunded),
  cost: ({ cost }) => amountOf(cost),
  margin: ({ margin }) => amountOf(margin),
  units: ({ units }) =>
    Object.entries(units)
      .map(([unit, count]) => `${count} ${unit}`)
      .join(', '),
  'mean ms': ({ latency }) => latency.mean_ms,
  'p95 ms': ({ latency }) => latency.p95_ms,
  'max ms': ({ latency }) => latency.max_ms,
};

function readGroupings(text: string, name: string): Grouping[] {
  return text.split(',').map((word) => {
    const found = groupings.find((grouping) => grouping === word.trim());
    if (found === undefined) throw new UsageError(`${name} must be one or two of ${groupings.join(', ')}.`);
    return found;
  });
}

const by = {
  argument: 'FIELDS',
  description: `group by one or two of ${groupings.join(', ')}`,
  parse: readGroupings,
} as const;

/** `figures`: shows aggregated metrics. */
export const figuresCommand = command({
  description:
    'show requests, errors, latency and quota by hours in UTC, with the current one; default: the last 24',
  options: {
    by,
    since: { argument: 'TIME', description: 'start: a date or an age such as 7d', parse: parseTime },
    until: { argument: 'TIME', description: 'end: a date or an age', parse: parseTime },
    user: { argument: 'ID', description: 'only requests of this user', parse: parseInteger },
    token: { argument: 'ID', description: 'only requests of this key', parse: parseInteger },
    member: { argument: 'ID', description: 'only requests of this member', parse: parseInteger },
    model: { argument: 'MODEL', description: 'only requests of this model' },
    channel: { argument: 'CHANNEL', description: 'only requests that this channel served' },
    operation: { argument: 'OPERATION', description: 'only requests of this operation' },
  },
  examples: ['figures', 'figures --by model', 'figures --by hour,channel --since 7d --json'],
  async run({ client, options, output, signal }) {
    const { by = [], user: user_id, token: token_id, member: member_id, ...others } = options;
    const figures = await client.admin.figures({ by, user_id, token_id, member_id, ...others }, { signal });
    await output.readCurrency(client, signal);
    const heads = Object.fromEntries(by.map((grouping) => [grouping, groupColumns[grouping]]));
    output.table(figures.items, { ...heads, ...columns }, figures);
    if (figures.complete_until !== null)
      output.note(`Incomplete from ${time(figures.complete_until)}: requests are still being added.`);
    output.note(`${time(figures.since)} to ${time(figures.until)}: ${figures.sum.requests} requests`);
  },
});
