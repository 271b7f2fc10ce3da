import type { AdminToken } from '../../admin/admin-tokens.ts';
import { UsageError } from '../check-options.ts';
import { type AdminCommand, command } from './command.ts';
import { end, limit, listed, oneOf, onOrOff, pageOf, paging, type Values, whole } from './options.ts';
import { type Columns, time } from './output.ts';

const statuses = ['enabled', 'disabled', 'expired', 'exhausted'] as const;

const columns: Columns<AdminToken> = {
  id: ({ id }) => id,
  user: ({ user_id, user_name }) => `${user_name} (${user_id})`,
  name: ({ name }) => name,
  key: ({ key }) => key,
  creator: ({ created_by }) => created_by ?? '-',
  group: ({ group }) => group,
  status: ({ status, user_disabled }) => (user_disabled ? 'user disabled' : statuses[status - 1]),
  left: ({ remain_quota, unlimited_quota }) => (unlimited_quota ? 'unlimited' : remain_quota),
  used: ({ used_quota }) => used_quota,
  debt: ({ debt = 0 }) => debt,
  ends: ({ expired_time }) => time(expired_time),
  rights: ({ admin, create_keys }) =>
    [admin && 'admin', create_keys && 'create keys'].filter(Boolean).join(', '),
};

const status = {
  takes: 'STATUS',
  does: `one of ${statuses.join(', ')}`,
  read: oneOf(...statuses),
} as const;

/** What a key may do. */
const limits = {
  group: { takes: 'GROUP', does: 'a group of its own; empty: that of its user' },
  models: { takes: 'MODELS', does: 'ids of the only models it may use, separated by commas; empty: all' },
  addresses: {
    takes: 'ADDRESSES',
    does: 'addresses and ranges it may be used from, separated by commas; empty: all',
    read: listed,
  },
  ends: { takes: 'TIME', does: 'a date such as 2027-01-31, in how long, such as 30d, or never', read: end },
  requests: {
    takes: 'NUMBER',
    does: 'requests a minute; 0: no limit; default: the configuration',
    read: limit,
  },
  sockets: { takes: 'NUMBER', does: 'open sockets; 0: no limit; default: the configuration', read: limit },
} as const;

function limitsOf(options: Values<typeof limits>) {
  const { group, models, addresses, ends, requests, sockets } = options;
  return {
    group,
    model_limits: models,
    allow_ips: addresses,
    expired_time: ends,
    requests_per_minute: requests,
    sockets,
  };
}

/** Leaves out `default`, which keys of one's own user cannot have: they have what the key has that creates them. */
function ownLimits<Body extends ReturnType<typeof limitsOf>>(body: Body) {
  const { requests_per_minute: requests, sockets } = body;
  return { ...body, requests_per_minute: requests ?? undefined, sockets: sockets ?? undefined };
}

export const keyCommands: Readonly<Record<string, AdminCommand>> = {
  'keys list': command({
    does: 'list keys of all users, newest first',
    options: {
      user: { takes: 'ID', does: 'only those of this user', read: whole },
      name: { takes: 'TEXT', does: 'only those whose name has it' },
      status,
      group: { takes: 'GROUP', does: 'only those of this group' },
      ...paging,
    },
    examples: ['keys list --user 2', 'keys list --status exhausted --json'],
    async run({ client, options, output, signal }) {
      const { user: user_id, name, group, status: word } = options;
      const number = word === undefined ? undefined : ((statuses.indexOf(word) + 1) as 1 | 2 | 3 | 4);
      const query = { user_id, name, group, status: number, ...pageOf(options) };
      output.page(await client.admin.tokens.list(query, { signal }), columns, options);
    },
  }),
  'keys create': command({
    takes: 'NAME',
    does: 'create a key and print its secret, which is shown only here',
    options: {
      user: {
        takes: 'ID',
        does: 'whose key it is; default: your own user, and the key is then created with your key and within its limits',
        read: whole,
      },
      quota: { takes: 'QUOTA', does: 'what it may spend, in quota units; default 0', read: whole },
      unlimited: { does: 'it spends without a limit of its own' },
      admin: { does: 'an unlimited key that may use these commands, for a user with the role admin' },
      'no-create-keys': { does: 'it may not create keys' },
      ...limits,
    },
    examples: [
      'keys create laptop --user 2 --quota 100000',
      'keys create trial --user 2 --quota 500 --models alpha3-tts-flash --ends 30d',
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
      output.tell(`key ${token.id}`);
      output.value(token.key, token);
    },
  }),
  'keys update': command({
    takes: 'ID',
    does: 'change a key',
    options: {
      name: { takes: 'TEXT', does: 'another name' },
      disable: { does: 'refuse it' },
      enable: { does: 'take it again' },
      unlimited: { does: 'let it spend without a limit of its own' },
      limited: { does: 'let it spend what it has left' },
      admin: { does: 'let it use these commands: a key without limits, of a user with the role admin' },
      'no-admin': { does: 'let it use these commands no more' },
      'create-keys': { does: 'let it create keys' },
      'no-create-keys': { does: 'let it, and the keys created with it, create no keys' },
      ...limits,
    },
    examples: ['keys update 7 --disable', 'keys update 7 --models alpha3-tts-flash --ends never'],
    async run({ client, text, options, output, signal }) {
      const { name, enable, disable, unlimited, limited, admin } = options;
      const { 'no-admin': noAdmin, 'create-keys': create, 'no-create-keys': noCreate } = options;
      if (Object.keys(options).length === 0) throw new UsageError('keys update: say what to change.');
      const enabled = onOrOff({ enable, disable });
      const change = {
        name,
        status: enabled === undefined ? undefined : enabled ? (1 as const) : (2 as const),
        unlimited_quota: onOrOff({ unlimited, limited }),
        admin: onOrOff({ admin, 'no-admin': noAdmin }),
        create_keys: onOrOff({ 'create-keys': create, 'no-create-keys': noCreate }),
        ...limitsOf(options),
      };
      const token = await client.admin.tokens.update(whole(text, 'ID'), change, { signal });
      output.table([token], columns, token);
    },
  }),
  'keys grant': command({
    takes: 'ID',
    does: 'give quota to a key, or take some back',
    options: {
      amount: {
        takes: 'QUOTA',
        does: 'in quota units; below zero takes back, as --amount=-100',
        read: whole,
        required: true,
      },
      reason: { takes: 'TEXT', does: 'why, for the books', required: true },
    },
    examples: [
      'keys grant 7 --amount 50000 --reason March',
      'keys grant 7 --amount=-100 --reason "granted twice"',
    ],
    async run({ client, text, options: { amount, reason }, output, signal }) {
      const id = whole(text, 'ID');
      const grant = await client.admin.tokens.grant(id, { amount, reason }, { signal });
      const { remain_quota: left, debt_settled, debt } = grant;
      output.facts({ grant: grant.id, key: id, amount, debt_settled, left, debt }, grant);
    },
  }),
  'keys revoke': command({
    takes: 'ID',
    does: 'delete a key and all keys that were created with it, which stop working at once',
    options: {
      'keep-children': { does: 'delete only this key; the others move to the key that created it' },
    },
    examples: ['keys revoke 7', 'keys revoke 7 --keep-children'],
    async run({ client, text, options, signal }) {
      const query = options['keep-children'] ? { keep_children: true } : {};
      await client.admin.tokens.revoke(whole(text, 'ID'), query, { signal });
    },
  }),
};
