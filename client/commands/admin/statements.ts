import { pipeline } from 'node:stream/promises';
import type { StatementMonth } from '../../my-statements.ts';
import { saveFile } from '../../save-file.ts';
import { type AdminCommand, command } from './command.ts';
import { parseInteger } from './options.ts';
import type { Columns } from './output.ts';

const columns: Columns<StatementMonth> = {
  month: ({ month }) => month,
  closed: ({ final }) => final,
};

export const statementCommands: Readonly<Record<string, AdminCommand>> = {
  'statements list': command({
    argument: 'ID',
    description: 'list the months with statements of a user',
    options: {},
    examples: ['statements list 2'],
    async run({ client, text, output, signal }) {
      const months = await client.admin.users.statements.list(parseInteger(text, 'ID'), { signal });
      output.table(months, columns, { items: months });
    },
  }),
  'statements export': command({
    argument: 'ID',
    description: 'write the statement of a user to a file or to standard output',
    options: {
      month: { argument: 'MONTH', description: 'year and month, such as 2026-11', required: true },
      output: {
        argument: 'FILE',
        description: '.html file for printing, or .csv file; default and -: CSV on standard output',
        short: 'o',
      },
    },
    examples: ['statements export 2 --month 2026-11 -o november.html'],
    async run({ client, text, options: { month, output: file = '-' }, terminal, signal }) {
      const format = file.endsWith('.html') ? 'html' : 'csv';
      const id = parseInteger(text, 'ID');
      const statement = await client.admin.users.statements.download(id, month, format, { signal });
      if (file === '-') await pipeline(statement, terminal.stdout, { end: false, signal });
      else await saveFile(file, statement);
    },
  }),
};
