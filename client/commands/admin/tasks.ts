import type { AdminTask, AdminTaskDetails, TaskSettlement } from '../../admin/admin-tasks.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseDecimal, parseInteger, parseTime } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<AdminTask> = {
  id: ({ id }) => id,
  created: ({ created_at }) => time(created_at),
  user: ({ user_id }) => user_id,
  key: ({ token_name }) => token_name,
  model: ({ model }) => model,
  channel: ({ channel }) => channel,
  state: ({ state, progress }) => (state === 'in_progress' ? `${state} ${progress} %` : state),
  reserved: ({ reserved }) => amountOf(reserved),
  charged: ({ charged }) => amountOf(charged),
  error: ({ error }) => error?.code,
};

const eventColumns: Columns<AdminTaskDetails['timeline'][number]> = {
  time: ({ at }) => time(at),
  event: ({ event }) => event,
  callback: ({ callback }) => callback && `${callback.reports} ${callback.state}`,
  status: ({ callback }) => callback?.last_status ?? callback?.last_error,
};

const state = {
  argument: 'STATE',
  description: 'queued, in_progress, completed or failed',
  choices: ['queued', 'in_progress', 'completed', 'failed'],
} as const;
const format = {
  argument: 'FORMAT',
  description: 'API format of the task, such as videos or music',
  choices: ['generic', 'videos', 'native', 'official', 'music', 'image'],
} as const;
const outcome = {
  argument: 'OUTCOME',
  description: 'failed refunds the quota, completed charges --units',
  choices: ['failed', 'completed'],
  required: true,
} as const;

export const taskCommands: Readonly<Record<string, AdminCommand>> = {
  'tasks list': command({
    description: 'list tasks of all users, newest first',
    options: {
      id: { argument: 'TASK', description: 'only this task' },
      user: { argument: 'ID', description: 'only tasks of this user', parse: parseInteger },
      token: { argument: 'ID', description: 'only tasks created with this key', parse: parseInteger },
      state,
      model: { argument: 'MODEL', description: 'only tasks of this model' },
      channel: { argument: 'CHANNEL', description: 'only tasks of this channel' },
      format,
      'error-code': { argument: 'CODE', description: 'only tasks that failed with this code' },
      since: { argument: 'TIME', description: 'start: a date or an age such as 24h', parse: parseTime },
      until: { argument: 'TIME', description: 'end: a date or an age', parse: parseTime },
      ...paging,
    },
    examples: ['tasks list --state in_progress', 'tasks list --user 2 --since 24h --json'],
    async run({ client, options, output, signal }) {
      const { id, user: user_id, token: token_id, state, model, channel, format, since, until } = options;
      const filters = { id, user_id, token_id, state, model, channel, format, since, until };
      const query = { ...filters, error_code: options['error-code'], ...pageOf(options) };
      const page = await client.admin.tasks.list(query, { signal });
      await output.readCurrency(client, signal);
      output.page(page, columns, options);
    },
  }),
  'tasks show': command({
    argument: 'TASK',
    description: 'print the timeline of a task',
    options: {},
    examples: ['tasks show task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    async run({ client, text, output, signal }) {
      const task = await client.admin.tasks.retrieve(text, { signal });
      output.table(task.timeline, eventColumns, task);
    },
  }),
  'tasks cancel': command({
    argument: 'TASK',
    description: 'cancel a queued task',
    options: {},
    examples: ['tasks cancel task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    async run({ client, text, output, signal }) {
      const task = await client.admin.tasks.cancel(text, { signal });
      await output.readCurrency(client, signal);
      output.table([task], columns, task);
    },
  }),
  'tasks settle': command({
    argument: 'TASK',
    description: 'end a task manually when its provider never reports a result',
    options: {
      outcome,
      reason: { argument: 'TEXT', description: 'reason, for the change log', required: true },
      message: { argument: 'TEXT', description: 'error message for the user' },
      units: {
        argument: 'NUMBER',
        description: 'usage of a completed task, in the unit of its model',
        parse: parseDecimal,
      },
      url: { argument: 'URL', description: 'URL of a completed video' },
    },
    examples: [
      'tasks settle task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --outcome failed --reason "provider ticket 4711"',
      'tasks settle task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --outcome completed --units 5 --url https://files.example/kite.mp4 --reason "sent by mail"',
    ],
    async run({ client, text, options, output, signal }) {
      const task = await client.admin.tasks.settle(text, settlementOf(options), { signal });
      await output.readCurrency(client, signal);
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
      throw new UsageError('tasks settle: --units and --url require --outcome completed.');
    return { outcome, reason, message };
  }
  if (message !== undefined) throw new UsageError('tasks settle: --message requires --outcome failed.');
  if (units === undefined) throw new UsageError('tasks settle: --outcome completed requires --units.');
  return { outcome, reason, units, url };
}
