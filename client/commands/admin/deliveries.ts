import type { AdminDelivery } from '../../admin/admin-deliveries.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseInteger } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<AdminDelivery> = {
  id: ({ id }) => id,
  task: ({ task_id }) => task_id,
  user: ({ user_id }) => user_id,
  event: ({ event }) => event,
  host: ({ host }) => host,
  state: ({ state }) => state,
  tries: ({ tries }) => tries,
  last: ({ last_status, last_error }) => last_status ?? last_error,
  next: ({ next_try_at }) => time(next_try_at),
};

const state = {
  argument: 'STATE',
  description: 'open, delivered or given_up',
  choices: ['open', 'delivered', 'given_up'],
} as const;

export const deliveryCommands: Readonly<Record<string, AdminCommand>> = {
  'deliveries list': command({
    description: 'list callback deliveries of all users, newest first',
    options: {
      state,
      task: { argument: 'TASK', description: 'only deliveries for this task' },
      host: { argument: 'HOST', description: 'only deliveries to this host' },
      user: { argument: 'ID', description: 'only deliveries of this user', parse: parseInteger },
      ...paging,
    },
    examples: ['deliveries list --state given_up', 'deliveries list --host app.example --json'],
    async run({ client, options, output, signal }) {
      const { state, task: task_id, host, user: user_id } = options;
      const query = { state, task_id, host, user_id, ...pageOf(options) };
      output.page(await client.admin.deliveries.list(query, { signal }), columns, options);
    },
  }),
  'deliveries resend': command({
    argument: 'ID',
    description: 'resend a callback now',
    options: {},
    examples: ['deliveries resend 88'],
    async run({ client, text, output, signal }) {
      const delivery = await client.admin.deliveries.resend(parseInteger(text, 'ID'), { signal });
      output.table([delivery], columns, delivery);
    },
  }),
};
