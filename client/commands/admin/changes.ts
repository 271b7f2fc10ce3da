import type { Change } from '../../admin/changes.ts';
import { command } from './command.ts';
import { moment, pageOf, paging, whole } from './options.ts';
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

/** `changes`: what admins have changed. */
export const changesCommand = command({
  does: 'list what admins have changed, newest first',
  options: {
    action: { takes: 'OPERATION', does: 'only changes of this operation, such as grantQuota' },
    subject: { takes: 'SUBJECT', does: 'only of one thing, such as "token 7"' },
    by: { takes: 'USER', does: 'only by the admin with this number', read: whole },
    since: { takes: 'TIME', does: 'a date, or how long ago, such as 24h', read: moment },
    until: { takes: 'TIME', does: 'and not later', read: moment },
    ...paging,
  },
  examples: ['changes --since 24h', 'changes --subject "token 7" --json'],
  async run({ client, options, output, signal }) {
    const { action, subject, by: user_id, since, until } = options;
    const query = { action, subject, user_id, since, until, ...pageOf(options) };
    output.page(await client.admin.changes.list(query, { signal }), columns, options);
  },
});
