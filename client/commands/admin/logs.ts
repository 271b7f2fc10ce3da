import { pipeline } from 'node:stream/promises';
import type { LogItem } from '../../logs.ts';
import { saveFile } from '../../save-file.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseInteger, parseTime } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<LogItem> = {
  time: ({ created_at }) => time(created_at),
  user: ({ user_id }) => user_id,
  key: ({ token_name }) => token_name,
  model: ({ model_name }) => model_name,
  in: ({ prompt_tokens }) => prompt_tokens,
  out: ({ completion_tokens }) => completion_tokens,
  quota: ({ quota }) => amountOf(quota),
  refunded: ({ refunded }) => (refunded === 0 ? '' : amountOf(refunded)),
  request: ({ request_id }) => request_id,
};

const format = {
  argument: 'FORMAT',
  description: 'csv or jsonl; default: from the file extension, otherwise jsonl',
  choices: ['csv', 'jsonl'],
} as const;

export const logCommands: Readonly<Record<string, AdminCommand>> = {
  'logs search': command({
    description: 'search calls of the user of the key, newest first',
    options: {
      keyword: {
        argument: 'WORD',
        description:
          'part of a model or key name, the first 16 or more characters of a request id, or a task id',
      },
      since: { argument: 'TIME', description: 'start: a date or an age such as 24h', parse: parseTime },
      until: { argument: 'TIME', description: 'end: a date or an age', parse: parseTime },
      model: { argument: 'MODEL', description: 'only calls of this model' },
      state: {
        argument: 'STATE',
        description: 'completed, failed or canceled',
        choices: ['completed', 'failed', 'canceled'],
      },
      token: { argument: 'ID', description: 'only calls with this key', parse: parseInteger },
      ...paging,
    },
    examples: ['logs search', 'logs search --keyword alpha3 --since 24h --json'],
    async run({ client, options, output, signal }) {
      const { keyword, since: start, until: end, model, state, token: token_id } = options;
      const query = { keyword, start, end, model, state, token_id, ...pageOf(options) };
      const page = await client.logs.search(query, { signal });
      await output.readCurrency(client, signal);
      output.page(page, columns, options);
    },
  }),
  'logs export': command({
    description: 'write the calls of all users, oldest first, to a file or to standard output',
    options: {
      output: { argument: 'FILE', description: 'output file; default and -: standard output', short: 'o' },
      format,
      after: {
        argument: 'ID',
        description: 'continue after this entry of an earlier export',
        parse: parseInteger,
      },
      since: { argument: 'TIME', description: 'start: a date or an age such as 24h', parse: parseTime },
      until: { argument: 'TIME', description: 'end: a date or an age', parse: parseTime },
      user: { argument: 'ID', description: 'only calls of this user', parse: parseInteger },
      token: { argument: 'ID', description: 'only calls with this key', parse: parseInteger },
      member: { argument: 'ID', description: 'only calls of this member', parse: parseInteger },
      model: { argument: 'MODEL', description: 'only calls of this model' },
      channel: { argument: 'CHANNEL', description: 'only calls that this channel served' },
      operation: { argument: 'OPERATION', description: 'only calls of this operation' },
      errors: { description: 'only failed calls and tasks' },
      request: { argument: 'ID', description: 'only the call with this request id' },
      task: { argument: 'ID', description: 'only this task' },
      'http-status': {
        argument: 'STATUS',
        description: 'only calls with this HTTP status',
        parse: parseInteger,
      },
    },
    examples: [
      'logs export --since 2026-11-01 --format csv -o november.csv',
      'logs export --errors --since 24h',
    ],
    async run({ client, options, terminal, signal }) {
      const {
        output: file,
        format: requested,
        user: user_id,
        token: token_id,
        member: member_id,
        request: request_id,
        task: task_id,
      } = options;
      const { after, since, until, model, channel, operation, errors, 'http-status': status } = options;
      const fromExtension = file?.endsWith('.csv') ? ('csv' as const) : ('jsonl' as const);
      const filters = {
        user_id,
        token_id,
        member_id,
        request_id,
        task_id,
        after,
        since,
        until,
        model,
        channel,
        operation,
      };
      const query = { format: requested ?? fromExtension, ...filters, errors, status };
      const lines = await client.admin.logs.export(query, { signal });
      if (file !== undefined && file !== '-') await saveFile(file, lines);
      else await pipeline(lines, terminal.stdout, { end: false, signal });
    },
  }),
};
