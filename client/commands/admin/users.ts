import type { Group } from '../../admin/groups.ts';
import type { User } from '../../admin/users.ts';
import { UsageError } from '../check-options.ts';
import { type AdminCommand, command } from './command.ts';
import { oneOf, onOrOff, pageOf, paging, whole } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<User> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  group: ({ group }) => group,
  role: ({ role }) => role,
  disabled: ({ disabled }) => disabled,
  keys: ({ keys }) => keys,
  left: ({ remain_quota }) => remain_quota,
  used: ({ used_quota }) => used_quota,
  created: ({ created_time }) => time(created_time),
};

const groupColumns: Columns<Group> = {
  name: ({ name }) => name,
  configured: ({ configured }) => configured,
  ratio: ({ ratio }) => ratio,
  users: ({ users }) => users,
  keys: ({ keys }) => keys,
  models: ({ models }) => models.join(','),
};

const role = { takes: 'ROLE', does: 'user or admin', read: oneOf('user', 'admin') } as const;

export const userCommands: Readonly<Record<string, AdminCommand>> = {
  'users list': command({
    does: 'list users, newest first',
    options: {
      name: { takes: 'TEXT', does: 'only those whose name has it' },
      group: { takes: 'GROUP', does: 'only those of this group' },
      ...paging,
    },
    examples: ['users list', 'users list --group trial --json'],
    async run({ client, options, output, signal }) {
      const { name, group } = options;
      const page = await client.admin.users.list({ name, group, ...pageOf(options) }, { signal });
      output.page(page, columns, options);
    },
  }),
  'users create': command({
    takes: 'NAME',
    does: 'make a user and print its number',
    options: {
      group: { takes: 'GROUP', does: 'group of its keys; default: default' },
      role,
    },
    examples: ['users create Ada --group default', 'users create "on call" --role admin'],
    async run({ client, text: name, options, output, signal }) {
      const { group, role } = options;
      const user = await client.admin.users.create({ name, group, role }, { signal });
      output.value(String(user.id), user);
    },
  }),
  'users update': command({
    takes: 'ID',
    does: 'change a user',
    options: {
      name: { takes: 'TEXT', does: 'another name' },
      group: { takes: 'GROUP', does: 'another group' },
      role,
      disable: { does: 'refuse its keys' },
      enable: { does: 'take them again' },
    },
    examples: ['users update 2 --disable', 'users update 2 --group trial'],
    async run({ client, text, options, output, signal }) {
      const { name, group, role, enable, disable } = options;
      const disabled = onOrOff({ disable, enable });
      if (Object.keys(options).length === 0) throw new UsageError('users update: say what to change.');
      const change = { name, group, role, disabled };
      const user = await client.admin.users.update(whole(text, 'ID'), change, { signal });
      output.table([user], columns, user);
    },
  }),
  'groups list': command({
    does: 'list groups',
    options: paging,
    examples: ['groups list'],
    async run({ client, options, output, signal }) {
      output.page(await client.admin.groups.list(pageOf(options), { signal }), groupColumns, options);
    },
  }),
};
