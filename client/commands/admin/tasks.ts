import type { AdminTask, TaskSettlement } from '../../admin/admin-tasks.ts';
import { UsageError } from '../check-options.ts';
import { type AdminCommand, command } from './command.ts';
import { decimal, moment, oneOf, pageOf, paging, whole } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<AdminTask> = {
  id: ({ id }) => id,
  created: ({ created_at }) => time(created_at),
  user: ({ user_id }) => user_id,
  key: ({ token_name }) => token_name,
  model: ({ model }) => model,
  channel: ({ channel }) => channel,
  state: ({ state, progress }) => (state === 'in_progress' ? `${state} ${progress} %` : state),
  reserved: ({ reserved }) => reserved,
  charged: ({ charged }) => charged,
  error: ({ error }) => error?.code,
};

const state = {
  takes: 'STATE',
  does: 'queued, in_progress, completed or failed',
  read: oneOf('queued', 'in_progress', 'completed', 'failed'),
} as const;
const format = {
  takes: 'FORMAT',
  does: 'the format it was made in, such as videos or music',
  read: oneOf('generic', 'videos', 'native', 'official', 'music', 'image'),
} as const;
const outcome = {
  takes: 'OUTCOME',
  does: 'failed, which gives its quota back, or completed, which charges --units',
  read: oneOf('failed', 'completed'),
  required: true,
} as const;

export const taskCommands: Readonly<Record<string, AdminCommand>> = {
  'tasks list': command({
    does: 'find tasks of all users, newest first',
    options: {
      id: { takes: 'TASK', does: 'only this one' },
      user: { takes: 'ID', does: 'only those of this user', read: whole },
      token: { takes: 'ID', does: 'only those made with this key', read: whole },
      state,
      model: { takes: 'MODEL', does: 'only those of this model' },
      channel: { takes: 'CHANNEL', does: 'only those of this channel' },
      format,
      'error-code': { takes: 'CODE', does: 'only those that failed with it' },
      since: { takes: 'TIME', does: 'a date, or how long ago, such as 24h', read: moment },
      until: { takes: 'TIME', does: 'and not later', read: moment },
      ...paging,
    },
    examples: ['tasks list --state in_progress', 'tasks list --user 2 --since 24h --json'],
    async run({ client, options, output, signal }) {
      const { id, user: user_id, token: token_id, state, model, channel, format, since, until } = options;
      const found = { id, user_id, token_id, state, model, channel, format, since, until };
      const query = { ...found, error_code: options['error-code'], ...pageOf(options) };
      output.page(await client.admin.tasks.list(query, { signal }), columns, options);
    },
  }),
  'tasks cancel': command({
    takes: 'TASK',
    does: 'cancel a task that still waits',
    options: {},
    examples: ['tasks cancel task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    async run({ client, text, output, signal }) {
      const task = await client.admin.tasks.cancel(text, { signal });
      output.table([task], columns, task);
    },
  }),
  'tasks settle': command({
    takes: 'TASK',
    does: 'end a task by hand whose provider will never tell its end',
    options: {
      outcome,
      reason: { takes: 'TEXT', does: 'why, for the list of changes', required: true },
      message: { takes: 'TEXT', does: 'what its user is told of a failure' },
      units: { takes: 'NUMBER', does: 'what a completed one used, in the unit of its model', read: decimal },
      url: { takes: 'URL', does: 'address of a completed video' },
    },
    examples: [
      'tasks settle task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --outcome failed --reason "provider ticket 4711"',
      'tasks settle task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --outcome completed --units 5 --url https://files.example/kite.mp4 --reason "sent by mail"',
    ],
    async run({ client, text, options, output, signal }) {
      const task = await client.admin.tasks.settle(text, settlementOf(options), { signal });
      output.table([task], columns, task);
    },
  }),
};

interface Settlement {
  outcome: 'failed' | 'completed';
  reason: string;
  message?: string;
  units?: number;
  url?: string;
}

function settlementOf({ outcome, reason, message, units, url }: Settlement): TaskSettlement {
  if (outcome === 'failed') {
    if (units !== undefined || url !== undefined)
      throw new UsageError('tasks settle: --units and --url are for --outcome completed.');
    return { outcome, reason, message };
  }
  if (message !== undefined) throw new UsageError('tasks settle: --message is for --outcome failed.');
  if (units === undefined) throw new UsageError('tasks settle: give --units with --outcome completed.');
  return { outcome, reason, units, url };
}
