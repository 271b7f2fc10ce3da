import { command } from './command.ts';
import { parseInteger } from './options.ts';
import { amountOf, time } from './output.ts';

/** `explain`: shows why a call or task cost what it cost. */
export const explainCommand = command({
  argument: 'ID',
  description: 'show why a call or task cost what it cost, by its request id or task id',
  options: {},
  examples: ['explain req_3f1c2a9be08d47a1b5c6d7e8f9a0b1c2', 'explain task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
  async run({ client, text, output, signal }) {
    const charge = await client.admin.charges.explain(text, { signal });
    const { entry, explanation } = charge;
    const unknown = 'unknown';
    output.fields(
      {
        request: entry.request_id,
        task: entry.task_id,
        time: time(entry.created_at),
        user: entry.user_id,
        key: `${entry.token_id} (${entry.token_name})`,
        model: entry.model_name,
        group: entry.group_name ?? unknown,
        channel: entry.channel,
        'provider id': entry.upstream_id,
        revision: entry.config_revision ?? unknown,
        state: entry.state ?? unknown,
        status: entry.status,
        error: entry.error_code,
      },
      charge,
    );
    output.lines(explanation);
  },
});

/** `refund`: refunds a settled call or task. */
export const refundCommand = command({
  argument: 'ID',
  description: 'refund a settled call or task, once, by its request id or task id',
  options: {
    amount: {
      argument: 'QUOTA',
      description: 'in quota units; default: the whole charge',
      parse: parseInteger,
    },
    reason: { argument: 'TEXT', description: 'reason, for the ledger', required: true },
  },
  examples: [
    'refund req_3f1c2a9be08d47a1b5c6d7e8f9a0b1c2 --reason "the provider delivered silence"',
    'refund task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --amount 15 --reason noise',
  ],
  async run({ client, text, options: { amount, reason }, output, signal }) {
    const refund = await client.admin.charges.refund(text, { amount, reason }, { signal });
    await output.readCurrency(client, signal);
    const { request_id: request, credited_to: key } = refund;
    const amounts = { charged: amountOf(refund.charged), refunded: amountOf(refund.amount) };
    const left = amountOf(refund.remain_quota);
    const { wallet_balance: balance } = refund;
    const wallet = balance === null ? undefined : amountOf(balance);
    output.fields({ request, ...amounts, key: key ?? refund.token_id, left, wallet }, refund);
    if (key === null && balance === null)
      output.note('The key had no limit and no wallet paid: the refund only corrects the used quota.');
  },
});
