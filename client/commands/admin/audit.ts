import { UnigateError } from '../../errors.ts';
import { UsageError } from '../check-options.ts';
import { type AdminCall, command } from './command.ts';

/** `audit`: proves the books. Fails when they do not add up. */
export const auditCommand = command({
  does: 'prove that grants, holds, settlements and refunds come to the balances of all keys',
  options: {
    offline: {
      does: 'read the database that DATA_DIR or DATABASE_URL names, beside a running gateway or without one',
    },
  },
  examples: ['audit', 'audit --json', 'audit --offline'],
  async run(call) {
    // The client is asked for only where it is needed, since it needs a key.
    const { options, output, signal } = call;
    const audit = options.offline ? await readOffline(call) : await call.client.admin.audit({ signal });
    const { keys, open, closed, granted, held, leased, spent, refunded, left } = audit;
    const { debt, debtors, problems, more } = audit;
    const facts = { keys, granted, held, leased, spent, refunded, left, debt, open, closed };
    output.facts(facts, audit);
    output.below(debtors, {
      key: ({ id, deleted }) => (deleted ? `${id} (deleted)` : id),
      name: ({ name }) => name,
      debt: (key) => key.debt,
    });
    output.below(problems, { subject: (found) => found.subject, problem: (found) => found.problem });
    if (more) output.tell('There are more.');
    if (problems.length > 0) throw new UnigateError('The books do not add up.');
  },
});

function readOffline({ auditOffline }: Pick<AdminCall, 'auditOffline'>) {
  if (auditOffline) return auditOffline();
  throw new UsageError('--offline: only where the gateway is installed, as npm run admin.');
}
