import { pipeline } from 'node:stream/promises';
import type { LogItem } from '../../logs.ts';
import { saveFile } from '../../save-file.ts';
import { type AdminCommand, command } from './command.ts';
import { moment, oneOf, pageOf, paging, whole } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<LogItem> = {
  time: ({ created_at }) => time(created_at),
  user: ({ user_id }) => user_id,
  key: ({ token_name }) => token_name,
  model: ({ model_name }) => model_name,
  in: ({ prompt_tokens }) => prompt_tokens,
  out: ({ completion_tokens }) => completion_tokens,
  quota: ({ quota }) => quota,
  refunded: ({ refunded }) => (refunded === 0 ? '' : refunded),
  request: ({ request_id }) => request_id,
};

const format = {
  takes: 'FORMAT',
  does: 'csv or jsonl; default from the ending of the file, else jsonl',
  read: oneOf('csv', 'jsonl'),
} as const;

export const logCommands: Readonly<Record<string, AdminCommand>> = {
  'logs search': command({
    does: 'find calls of the user of the key, newest first',
    options: {
      keyword: {
        takes: 'WORD',
        does: 'in the name of the key or the model, the beginning of a request id, or a task id',
      },
      since: { takes: 'TIME', does: 'a date, or how long ago, such as 24h', read: moment },
      until: { takes: 'TIME', does: 'and not later', read: moment },
      ...paging,
    },
    examples: ['logs search', 'logs search --keyword alpha3 --since 24h --json'],
    async run({ client, options, output, signal }) {
      const { keyword, since: start, until: end } = options;
      const query = { keyword, start, end, ...pageOf(options) };
      output.page(await client.logs.search(query, { signal }), columns, options);
    },
  }),
  'logs export': command({
    does: 'write the calls of all users, oldest first, to a file or to standard output',
    options: {
      output: { takes: 'FILE', does: 'where they go; default and -: standard output', short: 'o' },
      format,
      after: { takes: 'ID', does: 'go on behind this entry of an earlier export', read: whole },
      since: { takes: 'TIME', does: 'a date, or how long ago, such as 24h', read: moment },
      until: { takes: 'TIME', does: 'and not later', read: moment },
      user: { takes: 'ID', does: 'only calls of this user', read: whole },
      token: { takes: 'ID', does: 'only calls with this key', read: whole },
      model: { takes: 'MODEL', does: 'only calls of this model' },
      channel: { takes: 'CHANNEL', does: 'only calls that this channel served' },
      operation: { takes: 'OPERATION', does: 'only calls of this operation' },
      errors: { does: 'only failed calls and tasks' },
      request: { takes: 'ID', does: 'only the call of this request id' },
      task: { takes: 'ID', does: 'only the task of this id' },
      'http-status': { takes: 'STATUS', does: 'only calls that ended with it', read: whole },
    },
    examples: [
      'logs export --since 2026-11-01 --format csv -o november.csv',
      'logs export --errors --since 24h',
    ],
    async run({ client, options, terminal, signal }) {
      const {
        output: file,
        format: named,
        user: user_id,
        token: token_id,
        request: request_id,
        task: task_id,
      } = options;
      const { after, since, until, model, channel, operation, errors, 'http-status': status } = options;
      const ending = file?.endsWith('.csv') ? ('csv' as const) : ('jsonl' as const);
      const found = {
        user_id,
        token_id,
        request_id,
        task_id,
        after,
        since,
        until,
        model,
        channel,
        operation,
      };
      const query = { format: named ?? ending, ...found, errors, status };
      const lines = await client.admin.logs.export(query, { signal });
      if (file !== undefined && file !== '-') await saveFile(file, lines);
      else await pipeline(lines, terminal.stdout, { end: false, signal });
    },
  }),
};
