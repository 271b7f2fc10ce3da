import type { Member } from '../../my-members.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import { parseInteger } from './options.ts';
import { type Columns, time } from './output.ts';

const columns: Columns<Member> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  role: ({ role }) => role,
  keys: ({ keys }) => keys,
  created: ({ created_time }) => time(created_time),
};

const user = { argument: 'ID', description: 'the user', parse: parseInteger, required: true } as const;

const role = {
  argument: 'ROLE',
  description: 'owner, developer or billing',
  choices: ['owner', 'developer', 'billing'],
} as const;

export const memberCommands: Readonly<Record<string, AdminCommand>> = {
  'members list': command({
    description: 'list the members of a user, oldest first',
    options: { user },
    examples: ['members list --user 2'],
    async run({ client, options, output, signal }) {
      const members = await client.admin.users.members.list(options.user, { signal });
      output.table(members, columns, { items: members });
    },
  }),
  'members create': command({
    argument: 'NAME',
    description: 'add a member to a user and print the id',
    options: { user, role: { ...role, required: true } },
    examples: ['members create Ada --user 2 --role developer'],
    async run({ client, text: name, options: { user, role }, output, signal }) {
      const member = await client.admin.users.members.create(user, { name, role }, { signal });
      output.value(String(member.id), member);
    },
  }),
  'members update': command({
    argument: 'ID',
    description: 'change a member',
    options: { user, name: { argument: 'TEXT', description: 'new name' }, role },
    examples: ['members update 3 --user 2 --role billing'],
    async run({ client, text, options: { user, name, role }, output, signal }) {
      if (name === undefined && role === undefined)
        throw new UsageError('members update: --name or --role is required.');
      const id = parseInteger(text, 'ID');
      const member = await client.admin.users.members.update(user, id, { name, role }, { signal });
      output.table([member], columns, member);
    },
  }),
  'members delete': command({
    argument: 'ID',
    description: 'remove a member of a user and delete its keys',
    options: { user },
    examples: ['members delete 3 --user 2'],
    async run({ client, text, options, output, signal }) {
      const id = parseInteger(text, 'ID');
      await client.admin.users.members.delete(options.user, id, { signal });
      output.value(String(id), { id });
    },
  }),
};
