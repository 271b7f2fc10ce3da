import type { Group } from '../../admin/groups.ts';
import type { User } from '../../admin/users.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseInteger, toggle } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<User> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  group: ({ group }) => group,
  role: ({ role }) => role,
  disabled: ({ disabled }) => disabled,
  parent: ({ parent_id }) => parent_id ?? '',
  keys: ({ keys }) => keys,
  wallet: ({ has_wallet }) => has_wallet,
  left: ({ remain_quota }) => amountOf(remain_quota),
  used: ({ used_quota }) => amountOf(used_quota),
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

const role = { argument: 'ROLE', description: 'user or admin', choices: ['user', 'admin'] } as const;

export const userCommands: Readonly<Record<string, AdminCommand>> = {
  'users list': command({
    description: 'list users, newest first',
    options: {
      name: { argument: 'TEXT', description: 'only users whose name contains it' },
      group: { argument: 'GROUP', description: 'only users of this group' },
      parent: { argument: 'ID', description: 'only sub-accounts of this user', parse: parseInteger },
      ...paging,
    },
    examples: ['users list', 'users list --group trial --json', 'users list --parent 2'],
    async run({ client, options, output, signal }) {
      const { name, group, parent: parent_id } = options;
      const page = await client.admin.users.list({ name, group, parent_id, ...pageOf(options) }, { signal });
      await output.readCurrency(client, signal);
      output.page(page, columns, options);
    },
  }),
  'users create': command({
    argument: 'NAME',
    description: 'create a user and print the id',
    options: {
      group: { argument: 'GROUP', description: 'group of the user; default: that of the parent, or default' },
      role,
      parent: { argument: 'ID', description: 'make it a sub-account of this user', parse: parseInteger },
    },
    examples: [
      'users create Ada --group default',
      'users create "on call" --role admin',
      'users create "Paris office" --parent 2',
    ],
    async run({ client, text: name, options, output, signal }) {
      const { group, role, parent: parent_id } = options;
      const user = await client.admin.users.create({ name, group, role, parent_id }, { signal });
      output.value(String(user.id), user);
    },
  }),
  'users update': command({
    argument: 'ID',
    description: 'change a user',
    options: {
      name: { argument: 'TEXT', description: 'new name' },
      group: { argument: 'GROUP', description: 'new group' },
      role,
      disable: { description: 'disable the user and their keys' },
      enable: { description: 'enable the user' },
    },
    examples: ['users update 2 --disable', 'users update 2 --group trial'],
    async run({ client, text, options, output, signal }) {
      const { name, group, role, enable, disable } = options;
      const disabled = toggle({ disable, enable });
      if (Object.keys(options).length === 0)
        throw new UsageError('users update: at least one option is required.');
      const change = { name, group, role, disabled };
      const user = await client.admin.users.update(parseInteger(text, 'ID'), change, { signal });
      await output.readCurrency(client, signal);
      output.table([user], columns, user);
    },
  }),
  'groups list': command({
    description: 'list groups',
    options: paging,
    examples: ['groups list'],
    async run({ client, options, output, signal }) {
      output.page(await client.admin.groups.list(pageOf(options), { signal }), groupColumns, options);
    },
  }),
};
