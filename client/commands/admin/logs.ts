import type { LogItem } from '../../logs.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<LogItem> = {
  time: ({ created_at }) => time(created_at),
  user: ({ user_id }) => user_id,
  key: ({ token_name }) => token_name,
  model: ({ model_name }) => model_name,
  in: ({ prompt_tokens }) => prompt_tokens,
  out: ({ completion_tokens }) => completion_tokens,
  quota: ({ quota }) => quota,
  request: ({ request_id }) => request_id,
};

export const logCommands: Readonly<Record<string, AdminCommand>> = {
  'logs search': command({
    does: 'find calls of the user of the key, newest first',
    options: {
      keyword: {
        takes: 'WORD',
        does: 'in the name of the key or the model, or the beginning of a request id',
      },
      ...paging,
    },
    examples: ['logs search', 'logs search --keyword alpha3 --json'],
    async run({ client, options, output, signal }) {
      const { keyword } = options;
      output.page(await client.logs.search({ keyword, ...pageOf(options) }, { signal }), columns, options);
    },
  }),
};
