import type { AdminEndpointRequest } from '../../admin/admin-endpoints.ts';
import type { Endpoint, EventDelivery } from '../../endpoints.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseInteger } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<Endpoint> = {
  id: ({ id }) => id,
  url: ({ url }) => url,
  events: ({ events }) => events.join(','),
  threshold: ({ quota_threshold }) => amountOf(quota_threshold),
  disabled: ({ disabled }) => disabled,
  created: ({ created_at }) => time(created_at),
};

const deliveryColumns: Columns<EventDelivery> = {
  id: ({ id }) => id,
  event: ({ event }) => event,
  state: ({ state }) => state,
  tries: ({ tries }) => tries,
  last: ({ last_status, last_error }) => last_status ?? last_error,
  created: ({ created_at }) => time(created_at),
};

type EventName = AdminEndpointRequest['events'][number];
const eventNames: readonly EventName[] = [
  'quota.low',
  'quota.exhausted',
  'budget.reached',
  'task.stuck',
  'channel.unhealthy',
];

/** Events without `quota.low`, which requires a threshold. */
const defaultEvents = eventNames.filter((name) => name !== 'quota.low');

function readEvents(text: string, name: string): EventName[] {
  return text.split(',').map((part) => {
    const event = eventNames.find((known) => known === part.trim());
    if (event === undefined) throw new UsageError(`${name} must be among ${eventNames.join(', ')}.`);
    return event;
  });
}

export const endpointCommands: Readonly<Record<string, AdminCommand>> = {
  'endpoints list': command({
    description: 'list the callback endpoints of the operator',
    options: {},
    examples: ['endpoints list'],
    async run({ client, output, signal }) {
      const list = await client.admin.endpoints.list({ signal });
      await output.readCurrency(client, signal);
      output.table(list.items, columns, list);
    },
  }),
  'endpoints create': command({
    argument: 'URL',
    description: 'create a callback endpoint and print its secret',
    options: {
      events: {
        argument: 'LIST',
        description: 'events, separated by commas; default: all except quota.low',
        parse: readEvents,
      },
      threshold: { argument: 'QUOTA', description: 'balance of quota.low', parse: parseInteger },
      description: { argument: 'TEXT', description: 'description' },
    },
    examples: [
      'endpoints create https://ops.example/events --events channel.unhealthy,task.stuck',
      'endpoints create https://ops.example/events --events quota.low --threshold 10000',
    ],
    async run({ client, text: url, options, output, signal }) {
      const { events = defaultEvents, threshold: quota_threshold, description } = options;
      if (events.includes('quota.low') && quota_threshold === undefined)
        throw new UsageError('endpoints create: quota.low requires --threshold.');
      const body = { url, events, quota_threshold, description };
      const endpoint = await client.admin.endpoints.create(body, { signal });
      output.value(endpoint.secret, endpoint);
    },
  }),
  'endpoints rotate': command({
    argument: 'ID',
    description: 'replace the secret of a callback endpoint and print the new one',
    options: {
      overlap: {
        argument: 'SECONDS',
        description: 'time in which the old secret also signs; default: 86400',
        parse: parseInteger,
      },
    },
    examples: ['endpoints rotate 3', 'endpoints rotate 3 --overlap 0'],
    async run({ client, text, options, output, signal }) {
      const query = { overlap_seconds: options.overlap };
      const endpoint = await client.admin.endpoints.rotateSecret(parseInteger(text, 'ID'), query, { signal });
      output.value(endpoint.secret, endpoint);
    },
  }),
  'endpoints test': command({
    argument: 'ID',
    description: 'send a test event to a callback endpoint',
    options: {},
    examples: ['endpoints test 3'],
    async run({ client, text, output, signal }) {
      const delivery = await client.admin.endpoints.test(parseInteger(text, 'ID'), { signal });
      output.table([delivery], deliveryColumns, delivery);
    },
  }),
  'endpoints deliveries': command({
    argument: 'ID',
    description: 'list the deliveries to a callback endpoint, newest first',
    options: paging,
    examples: ['endpoints deliveries 3'],
    async run({ client, text, options, output, signal }) {
      const id = parseInteger(text, 'ID');
      const page = await client.admin.endpoints.deliveries(id, pageOf(options), { signal });
      output.page(page, deliveryColumns, options);
    },
  }),
  'endpoints delete': command({
    argument: 'ID',
    description: 'delete a callback endpoint',
    options: {},
    examples: ['endpoints delete 3'],
    async run({ client, text, output, signal }) {
      const id = parseInteger(text, 'ID');
      await client.admin.endpoints.delete(id, { signal });
      output.value(String(id), { id });
    },
  }),
};
