import type { Budget } from '../../admin/budgets.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, command } from './command.ts';
import { pageOf, paging, parseInteger, toggle } from './options.ts';
import { amountOf, type Columns, time } from './output.ts';

const columns: Columns<Budget> = {
  id: ({ id }) => id,
  user: ({ user_id }) => user_id,
  key: ({ token_id }) => token_id,
  period: ({ period }) => period,
  amount: ({ amount }) => amountOf(amount),
  spent: ({ spent }) => amountOf(spent),
  reserved: ({ reserved }) => amountOf(reserved),
  hard: ({ hard }) => hard,
  end: ({ period_end }) => time(period_end),
};

const thresholds = {
  argument: 'PERCENTAGES',
  description: 'when budget.reached is sent, separated by commas; default of a new budget: 50,80,100',
  parse: (text: string, name: string) => text.split(',').map((part) => parseInteger(part.trim(), name)),
} as const;

const period = {
  argument: 'PERIOD',
  description: 'daily, weekly or monthly',
  choices: ['daily', 'weekly', 'monthly'],
  required: true,
} as const;

export const budgetCommands: Readonly<Record<string, AdminCommand>> = {
  'budgets list': command({
    description: 'list budgets of users and keys, newest first',
    options: {
      user: { argument: 'ID', description: 'only budgets of this user and its keys', parse: parseInteger },
      token: { argument: 'ID', description: 'only budgets of this key', parse: parseInteger },
      ...paging,
    },
    examples: ['budgets list', 'budgets list --user 4'],
    async run({ client, options, output, signal }) {
      const { user: user_id, token: token_id } = options;
      const query = { user_id, token_id, ...pageOf(options) };
      const page = await client.admin.budgets.list(query, { signal });
      await output.readCurrency(client, signal);
      output.page(page, columns, options);
    },
  }),
  'budgets create': command({
    argument: 'AMOUNT',
    description: 'create a budget of a user or a key, and print its id',
    options: {
      user: { argument: 'ID', description: 'all keys of this user', parse: parseInteger },
      token: { argument: 'ID', description: 'this key and the keys created with it', parse: parseInteger },
      period,
      zone: { argument: 'ZONE', description: 'IANA time zone; default: UTC' },
      hard: { description: 'refuse calls beyond the budget' },
      thresholds,
    },
    examples: [
      'budgets create 100000 --token 7 --period daily --zone Europe/Berlin --hard',
      'budgets create 5000000 --user 4 --period monthly --thresholds 50,90',
    ],
    async run({ client, text, options, output, signal }) {
      const { user: user_id, token: token_id, period, zone: time_zone, hard = false, thresholds } = options;
      const amount = parseInteger(text, 'AMOUNT');
      const fields = { user_id, token_id, amount, period, time_zone, hard, thresholds };
      const budget = await client.admin.budgets.create(fields, { signal });
      output.value(String(budget.id), budget);
    },
  }),
  'budgets update': command({
    argument: 'ID',
    description: 'change the amount or the thresholds of a budget, or whether it is hard',
    options: {
      amount: { argument: 'QUOTA', description: 'new amount', parse: parseInteger },
      hard: { description: 'refuse calls beyond the budget' },
      soft: { description: 'allow calls beyond the budget' },
      thresholds,
    },
    examples: ['budgets update 5 --amount 200000', 'budgets update 5 --soft'],
    async run({ client, text, options, output, signal }) {
      const { amount, hard, soft, thresholds } = options;
      if (Object.keys(options).length === 0)
        throw new UsageError('budgets update: --amount, --hard, --soft or --thresholds is required.');
      const change = { amount, hard: toggle({ hard, soft }), thresholds };
      const budget = await client.admin.budgets.update(parseInteger(text, 'ID'), change, { signal });
      await output.readCurrency(client, signal);
      output.table([budget], columns, budget);
    },
  }),
  'budgets delete': command({
    argument: 'ID',
    description: 'delete a budget',
    options: {},
    examples: ['budgets delete 5'],
    async run({ client, text, output, signal }) {
      const id = parseInteger(text, 'ID');
      await client.admin.budgets.delete(id, { signal });
      output.value(String(id), { id });
    },
  }),
};
