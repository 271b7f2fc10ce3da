import type { Change } from '../../admin/changes.ts';
import { command } from './command.ts';
import { pageOf, paging, parseInteger, parseTime } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<Change> = {
  time: ({ created_at }) => time(created_at),
  by: ({ user_id, user_name }) => (user_id === null ? 'configuration file' : user_name),
  cause: ({ cause }) => cause,
  key: ({ token_id }) => token_id,
  action: ({ action }) => action,
  subject: ({ subject }) => subject,
  details: ({ details }) => JSON.stringify(details),
};

/** `changes`: lists admin changes. */
export const changesCommand = command({
  description: 'list admin changes, newest first',
  options: {
    action: { argument: 'OPERATION', description: 'only changes of this operation, such as grantQuota' },
    subject: { argument: 'SUBJECT', description: 'only changes of this subject, such as "token 7"' },
    by: { argument: 'USER', description: 'only changes by the admin with this id', parse: parseInteger },
    since: { argument: 'TIME', description: 'start: a date or an age such as 24h', parse: parseTime },
    until: { argument: 'TIME', description: 'end: a date or an age', parse: parseTime },
    ...paging,
  },
  examples: ['changes --since 24h', 'changes --subject "token 7" --json'],
  async run({ client, options, output, signal }) {
    const { action, subject, by: user_id, since, until } = options;
    const query = { action, subject, user_id, since, until, ...pageOf(options) };
    output.page(await client.admin.changes.list(query, { signal }), columns, options);
  },
});
