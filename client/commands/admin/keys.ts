import type { Token } from '../../tokens.ts';
import { type AdminCommand, command } from './command.ts';
import { moment, pageOf, paging, whole } from './options.ts';
import { type Columns, time } from './output.ts';

const statuses: Readonly<Record<number, string>> = {
  1: 'enabled',
  2: 'disabled',
  3: 'expired',
  4: 'exhausted',
};

const columns: Columns<Token> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  key: ({ key }) => key,
  group: ({ group }) => group,
  status: ({ status }) => statuses[status] ?? status,
  left: ({ remain_quota, unlimited_quota }) => (unlimited_quota ? 'unlimited' : remain_quota),
  used: ({ used_quota }) => used_quota,
  ends: ({ expired_time }) => time(expired_time),
};

export const keyCommands: Readonly<Record<string, AdminCommand>> = {
  'keys list': command({
    does: 'list keys, newest first',
    options: paging,
    examples: ['keys list'],
    async run({ client, options, output, signal }) {
      output.page(await client.tokens.list(pageOf(options), { signal }), columns, options);
    },
  }),
  'keys create': command({
    takes: 'NAME',
    does: 'make a key and print its secret, which is shown only here',
    options: {
      quota: { takes: 'QUOTA', does: 'what it may spend, in quota units; default 0', read: whole },
      unlimited: { does: 'it spends without a limit of its own' },
      group: { takes: 'GROUP', does: 'default: that of its user' },
      models: { takes: 'MODELS', does: 'ids of the only models it may use, separated by commas' },
      ends: { takes: 'TIME', does: 'a date, such as 2027-01-31; default: never', read: moment },
    },
    examples: ['keys create "front end" --quota 100000 --models alpha3-tts-flash'],
    async run({ client, text: name, options, output, signal }) {
      const { quota, unlimited, group, models, ends } = options;
      const body = {
        name,
        ...(quota !== undefined && { remain_quota: quota }),
        ...(unlimited && { unlimited_quota: true }),
        ...(group !== undefined && { group }),
        ...(models !== undefined && { model_limits: models }),
        ...(ends !== undefined && { expired_time: ends }),
      };
      const token = await client.tokens.create(body, { signal });
      output.tell(`key ${token.id}`);
      output.value(token.key, token);
    },
  }),
  'keys revoke': command({
    takes: 'ID',
    does: 'delete a key, which stops working at once',
    options: {},
    examples: ['keys revoke 7'],
    async run({ client, text, signal }) {
      await client.tokens.delete(whole(text, 'ID'), { signal });
    },
  }),
};
