import { UnigateError } from '../../errors.ts';
import { UsageError } from '../check-options.ts';
import { command } from './command.ts';

/** `audit`: proves the books. Fails when they do not add up. */
export const auditCommand = command({
  does: 'prove that grants, holds, settlements and refunds come to the balances of all keys',
  options: {
    offline: {
      does: 'read the database that DATA_DIR or DATABASE_URL names, beside a running gateway or without one',
    },
  },
  examples: ['audit --offline', 'audit --offline --json'],
  async run({ options, output, auditOffline }) {
    if (!auditOffline)
      throw new UsageError('--offline: only where the gateway is installed, as npm run admin.');
    if (!options.offline) throw new UsageError('audit: give --offline.');
    const audit = await auditOffline();
    const { keys, open, closed, granted, held, spent, left, problems, more } = audit;
    output.facts({ keys, granted, held, spent, left, open, closed }, audit);
    output.below(problems, { subject: (found) => found.subject, problem: (found) => found.problem });
    if (more) output.tell('There are more.');
    if (problems.length > 0) throw new UnigateError('The books do not add up.');
  },
});
