import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { findWarnings } from '../../providers/price-values.ts';
import type { Settings } from '../../settings/settings.ts';
import { missingCosts } from '../../settings/warnings.ts';
import { success } from '../success.ts';

type PriceProblem = components['schemas']['PriceProblem'];

/** Finds models without a price or a cost, and prices and rules that never apply. */
export const auditPrices: Handler<'auditPrices'> = ({ gateway: { settings } }, reply) => {
  const problems = [...ofPrices(settings), ...missingCosts(settings)];
  reply.json(200, success({ revision: settings.revision, problems: problems.map(problemView) }));
};

interface FoundProblem {
  kind: PriceProblem['kind'];
  at: readonly (string | number)[];
  problem: string;
}

/** Returns the warnings of the start that concern prices. */
function ofPrices(settings: Settings): FoundProblem[] {
  return findWarnings(settings).flatMap(({ kind, ...found }) =>
    kind === 'group' || kind === 'channel' ? [] : [{ kind, ...found }],
  );
}

function problemView({ kind, at, problem }: FoundProblem): PriceProblem {
  return { kind, setting: at.join('.'), problem };
}
