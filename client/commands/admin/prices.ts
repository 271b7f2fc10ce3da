import { UnigateError } from '../../errors.ts';
import { type AdminCommand, command } from './command.ts';
import { explainPriceCommand } from './explain-price.ts';

export const priceCommands: Readonly<Record<string, AdminCommand>> = {
  'prices check': command({
    description:
      'find models without a price or a cost, unused prices, impossible values, and rules that never apply',
    options: { 'ignore-costs': { description: 'ignore models without a cost' } },
    examples: ['prices check', 'prices check --ignore-costs'],
    async run({ client, options, output, signal }) {
      const check = await client.admin.prices.check({ signal });
      const problems = options['ignore-costs']
        ? check.problems.filter(({ kind }) => kind !== 'missing_cost')
        : check.problems;
      output.table(
        problems,
        { kind: ({ kind }) => kind, setting: ({ setting }) => setting, problem: ({ problem }) => problem },
        { ...check, problems },
      );
      if (problems.length === 0) output.note('No problems.');
      else throw new UnigateError('The prices have problems.');
    },
  }),
  'prices explain': explainPriceCommand,
};
