import type { AdminToken } from '../../admin/admin-tokens.ts';
import { keyStatuses } from '../key-statuses.ts';
import type { Values } from '../option.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import {
  granting,
  pageOf,
  paging,
  parseExpiry,
  parseInteger,
  parseLimit,
  parseList,
  toggle,
} from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<AdminToken> = {
  id: ({ id }) => id,
  user: ({ user_id, user_name }) => `${user_name} (${user_id})`,
  name: ({ name }) => name,
  key: ({ key }) => key,
  creator: ({ created_by }) => created_by ?? '-',
  group: ({ group }) => group,
  status: ({ status, user_disabled }) => (user_disabled ? 'user disabled' : keyStatuses[status - 1]),
  left: ({ remain_quota, unlimited_quota }) => (unlimited_quota ? 'unlimited' : amountOf(remain_quota)),
  used: ({ used_quota }) => amountOf(used_quota),
  debt: ({ debt = 0 }) => amountOf(debt),
  ends: ({ expired_time }) => time(expired_time),
  rights: ({ admin, create_keys }) =>
    [admin && 'admin', create_keys && 'create keys'].filter(Boolean).join(', '),
};

const status = {
  argument: 'STATUS',
  description: `one of ${keyStatuses.join(', ')}`,
  choices: keyStatuses,
} as const;

/** Limits of a key. */
const limits = {
  group: { argument: 'GROUP', description: 'group; empty: the group of its user' },
  models: {
    argument: 'MODELS',
    description: 'allowed model ids, separated by commas; empty: all',
  },
  addresses: {
    argument: 'ADDRESSES',
    description: 'allowed IP addresses and ranges, separated by commas; empty: all',
    parse: parseList,
  },
  ends: {
    argument: 'TIME',
    description: 'expiry: a date such as 2027-01-31, a duration such as 30d, or never',
    parse: parseExpiry,
  },
  requests: {
    argument: 'NUMBER',
    description: 'requests per minute; 0: no limit; the word default: the configured limit',
    parse: parseLimit,
  },
  sockets: {
    argument: 'NUMBER',
    description: 'open sockets; 0: no limit; the word default: the configured limit',
    parse: parseLimit,
  },
} as const;

function limitsOf(options: Values<typeof limits>) {
  const { group, models, addresses, ends, requests, sockets } = options;
  return {
    group,
    model_limits: models,
    allow_ips: addresses,
    expired_time: ends,
    requests_per_minute: requests === 'default' ? null : requests,
    sockets: sockets === 'default' ? null : sockets,
  };
}

/** Omits `default`, because a key created for the own user inherits the limits of the creating key. */
function ownLimits<Body extends ReturnType<typeof limitsOf>>(body: Body) {
  const { requests_per_minute: requests, sockets } = body;
  return { ...body, requests_per_minute: requests ?? undefined, sockets: sockets ?? undefined };
}

export const keyCommands: Readonly<Record<string, AdminCommand>> = {
  'keys list': command({
    description: 'list keys of all users, newest first',
    options: {
      user: { argument: 'ID', description: 'only keys of this user', parse: parseInteger },
      name: { argument: 'TEXT', description: 'only keys whose name contains it' },
      status,
      group: { argument: 'GROUP', description: 'only keys of this group' },
      ...paging,
    },
    examples: ['keys list --user 2', 'keys list --status exhausted --json'],
    async run({ client, options, output, signal }) {
      const { user: user_id, name, group, status: word } = options;
      const number = word === undefined ? undefined : ((keyStatuses.indexOf(word) + 1) as 1 | 2 | 3 | 4);
      const query = { user_id, name, group, status: number, ...pageOf(options) };
      const page = await client.admin.tokens.list(query, { signal });
      await output.readCurrency(client, signal);
      output.page(page, columns, options);
    },
  }),
  'keys create': command({
    argument: 'NAME',
    description: 'create a key and print its secret, which is shown only once',
    options: {
      user: {
        argument: 'ID',
        description: 'owner; default: your own user, with a key within the limits of your key',
        parse: parseInteger,
      },
      quota: {
        argument: 'QUOTA',
        description: 'quota in quota units; default 0',
        parse: parseInteger,
      },
      unlimited: { description: 'no quota limit; the wallet of the user, if it has one, is the limit' },
      admin: { description: 'unlimited key with admin access, for a user with the role admin' },
      'no-create-keys': { description: 'do not allow it to create keys' },
      ...limits,
    },
    examples: [
      'keys create laptop --user 2 --quota 100000',
      'keys create trial --user 2 --quota 500 --models alpha3-tts-flash --ends 30d',
      'keys create web --user 3 --unlimited',
      'keys create "on call" --admin',
    ],
    async run({ client, text: name, options, output, signal }) {
      const { user, quota, admin, 'no-create-keys': denied } = options;
      const unlimited_quota = options.unlimited ?? (quota === undefined ? admin : undefined);
      const remain_quota = quota ?? (unlimited_quota ? undefined : 0);
      const create_keys = denied ? false : undefined;
      const body = { name, remain_quota, unlimited_quota, admin, create_keys, ...limitsOf(options) };
      const token =
        user === undefined
          ? await client.tokens.create(ownLimits(body), { signal })
          : await client.admin.tokens.create(user, body, { signal });
      output.note(`key ${token.id}`);
      if (remain_quota === 0 && quota === undefined)
        output.note(
          `Its quota is 0: grant some with "keys grant ${token.id} --amount QUOTA --reason TEXT", or remove the limit with "keys update ${token.id} --unlimited".`,
        );
      output.value(token.key, token);
    },
  }),
  'keys update': command({
    argument: 'ID',
    description: 'change a key',
    options: {
      name: { argument: 'TEXT', description: 'new name' },
      disable: { description: 'disable the key' },
      enable: { description: 'enable the key' },
      unlimited: { description: 'remove the quota limit' },
      limited: { description: 'limit the key to its remaining quota' },
      admin: {
        description: 'grant admin access to an unlimited key of a user with the role admin',
      },
      'no-admin': { description: 'revoke admin access' },
      'create-keys': { description: 'allow it to create keys' },
      'no-create-keys': { description: 'do not allow it, or keys created with it, to create keys' },
      ...limits,
    },
    examples: ['keys update 7 --disable', 'keys update 7 --models alpha3-tts-flash --ends never'],
    async run({ client, text, options, output, signal }) {
      const { name, enable, disable, unlimited, limited, admin } = options;
      const { 'no-admin': noAdmin, 'create-keys': create, 'no-create-keys': noCreate } = options;
      if (Object.keys(options).length === 0)
        throw new UsageError('keys update: at least one option is required.');
      const enabled = toggle({ enable, disable });
      const change = {
        name,
        status: enabled === undefined ? undefined : enabled ? (1 as const) : (2 as const),
        unlimited_quota: toggle({ unlimited, limited }),
        admin: toggle({ admin, 'no-admin': noAdmin }),
        create_keys: toggle({ 'create-keys': create, 'no-create-keys': noCreate }),
        ...limitsOf(options),
      };
      const token = await client.admin.tokens.update(parseInteger(text, 'ID'), change, { signal });
      await output.readCurrency(client, signal);
      output.table([token], columns, token);
    },
  }),
  'keys grant': command({
    argument: 'ID',
    description: 'grant quota to a key, or withdraw quota',
    options: granting,
    examples: [
      'keys grant 7 --amount 50000 --reason March',
      'keys grant 7 --amount=-100 --reason "granted twice"',
    ],
    async run({ client, text, options: { amount, reason }, output, signal }) {
      const id = parseInteger(text, 'ID');
      const grant = await client.admin.tokens.grant(id, { amount, reason }, { signal });
      await output.readCurrency(client, signal);
      const debt_settled = amountOf(grant.debt_settled);
      const left = amountOf(grant.remain_quota);
      const fields = { grant: grant.id, key: id, amount: amountOf(amount), debt_settled, left };
      output.fields({ ...fields, debt: amountOf(grant.debt) }, grant);
    },
  }),
  'keys revoke': command({
    argument: 'ID',
    description: 'delete a key and all keys created with it; they stop working at once',
    options: {
      'keep-children': { description: 'delete only this key; the others move to the key that created it' },
    },
    examples: ['keys revoke 7', 'keys revoke 7 --keep-children'],
    async run({ client, text, options, signal }) {
      const query = options['keep-children'] ? { keep_children: true } : {};
      await client.admin.tokens.revoke(parseInteger(text, 'ID'), query, { signal });
    },
  }),
};
