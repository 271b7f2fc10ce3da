import type { Audit } from '../../admin/admin.ts';
import { UnigateError } from '../../errors.ts';
import { command, requireDatabase } from './command.ts';
import type { Cell, Output } from './output.ts';

/** `audit`: checks the ledger. Fails if it does not balance. */
export const auditCommand = command({
  description:
    'check that grants, reservations, charges and refunds add up to the balances of all keys and wallets',
  options: {
    offline: {
      description:
        'read the database of DATA_DIR or DATABASE_URL directly, even while the gateway runs (npm run admin only)',
    },
  },
  examples: ['audit', 'audit --json', 'audit --offline'],
  async run(call) {
    // `call.client` requires a key, so it is read only when needed.
    const { options, output, signal } = call;
    const audit = options.offline
      ? await requireDatabase(call, '--offline').audit()
      : await call.client.admin.audit({ signal });
    printAudit(output, audit);
  },
});

/**
 * Prints an audit after other fields. `data`: the value for `--json`.
 *
 * @throws UnigateError when the ledger does not balance
 */
export function printAudit(
  output: Output,
  audit: Audit,
  { before = {}, data = audit }: { before?: Readonly<Record<string, Cell>>; data?: unknown } = {},
): void {
  const { keys, open, closed, granted, held, leased, spent, refunded, left } = audit;
  const { debt, debtors, wallets, problems, more } = audit;
  const fields = { keys, granted, held, leased, spent, refunded, left, debt, open, closed };
  output.fields({ ...before, ...fields }, data);
  output.additionalTable(debtors, {
    key: ({ id, deleted }) => (deleted ? `${id} (deleted)` : id),
    name: ({ name }) => name,
    debt: (key) => key.debt,
  });
  if (wallets.wallets > 0)
    output.additionalTable([wallets], {
      wallets: (sums) => sums.wallets,
      granted: (sums) => sums.granted,
      held: (sums) => sums.held,
      leased: (sums) => sums.leased,
      spent: (sums) => sums.spent,
      refunded: (sums) => sums.refunded,
      balance: (sums) => sums.balance,
      debt: (sums) => sums.debt,
    });
  output.additionalTable(problems, {
    subject: (found) => found.subject,
    problem: (found) => found.problem,
  });
  if (more) output.note('There are more problems.');
  if (problems.length > 0) throw new UnigateError('The ledger does not balance.');
}
