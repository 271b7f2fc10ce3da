import type { Wallet, WalletGrant } from '../../admin/user-wallets.ts';
import { type AdminCommand, command } from './command.ts';
import { granting, parseInteger } from './options.ts';
import { amountOf, type Columns, type Output, time } from './output.ts';

const grantColumns: Columns<WalletGrant> = {
  id: ({ id }) => id,
  time: ({ created_at }) => time(created_at),
  amount: ({ amount }) => amountOf(amount),
  reference: ({ reference }) => reference ?? 'taken over',
  reason: ({ reason }) => reason,
  settled: ({ debt_settled }) => amountOf(debt_settled),
  balance: ({ balance }) => amountOf(balance),
  debt: ({ debt }) => amountOf(debt),
};

function printWallet(output: Output, wallet: Wallet): void {
  const { user_id: user, created_time } = wallet;
  const balance = amountOf(wallet.balance);
  const reserved = amountOf(wallet.reserved);
  const used = amountOf(wallet.used);
  const debt = amountOf(wallet.debt);
  output.fields({ user, balance, reserved, used, debt, opened: time(created_time) }, wallet);
}

export const walletCommands: Readonly<Record<string, AdminCommand>> = {
  'wallets show': command({
    argument: 'USER',
    description: 'show the wallet of a user, from which all its keys draw',
    options: {},
    examples: ['wallets show 2', 'wallets show 2 --json'],
    async run({ client, text, output, signal }) {
      const wallet = await client.admin.users.wallets.retrieve(parseInteger(text, 'USER'), { signal });
      await output.readCurrency(client, signal);
      printWallet(output, wallet);
    },
  }),
  'wallets open': command({
    argument: 'USER',
    description: 'open the wallet of a user, which takes over the quota of its keys; cannot be undone',
    options: {},
    examples: ['wallets open 2'],
    async run({ client, text, output, signal }) {
      const wallet = await client.admin.users.wallets.open(parseInteger(text, 'USER'), { signal });
      await output.readCurrency(client, signal);
      printWallet(output, wallet);
    },
  }),
  'wallets grant': command({
    argument: 'USER',
    description: 'grant quota to the wallet of a user, or withdraw quota; opens the wallet',
    options: {
      ...granting,
      reference: {
        argument: 'TEXT',
        description: 'id of the payment, which is granted once; default: a random id',
      },
    },
    examples: [
      'wallets grant 2 --amount 50000 --reason March --reference payment-7',
      'wallets grant 2 --amount=-100 --reason "granted twice"',
    ],
    async run({ client, text, options, output, signal }) {
      const { amount, reason, reference = crypto.randomUUID() } = options;
      const user = parseInteger(text, 'USER');
      const body = { amount, reason, reference };
      const grant = await client.admin.users.wallets.grant(user, body, { signal });
      await output.readCurrency(client, signal);
      const fields = { grant: grant.id, user, amount: amountOf(amount), reference };
      const debts = { debt_settled: amountOf(grant.debt_settled), balance: amountOf(grant.balance) };
      output.fields({ ...fields, ...debts, debt: amountOf(grant.debt) }, grant);
    },
  }),
  'wallets grants': command({
    argument: 'USER',
    description: 'list the grants to the wallet of a user, newest first',
    options: {
      after: {
        argument: 'ID',
        description: 'only grants older than this one, for the next page',
        parse: parseInteger,
      },
      'page-size': { argument: 'NUMBER', description: 'grants on a page, 1 to 1000', parse: parseInteger },
    },
    examples: ['wallets grants 2', 'wallets grants 2 --after 12 --json'],
    async run({ client, text, options, output, signal }) {
      const query = { after: options.after, page_size: options['page-size'] };
      const page = await client.admin.users.wallets.listGrants(parseInteger(text, 'USER'), query, {
        signal,
      });
      await output.readCurrency(client, signal);
      output.table(page.items, grantColumns, page);
      if (page.items.length === 0) output.note('No entries.');
      if (page.has_more) output.note(`next page: --after ${page.last_id}`);
    },
  }),
};
