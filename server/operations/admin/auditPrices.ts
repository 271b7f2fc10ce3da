import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { impossibleValues } from '../../providers/price-values.ts';
import { ruleLists } from '../../settings/priced-models.ts';
import type { Settings } from '../../settings/settings.ts';
import { configurationWarnings, missingCosts } from '../../settings/warnings.ts';
import { success } from '../success.ts';

type PriceProblem = components['schemas']['PriceProblem'];

/** Finds models without a price or a cost, and prices and rules that never apply. */
export const auditPrices: Handler<'auditPrices'> = ({ gateway: { settings } }, reply) => {
  const problems = [...ofPrices(settings), ...valuesWithoutRequest(settings), ...missingCosts(settings)];
  reply.json(200, success({ revision: settings.revision, problems: problems.map(problemView) }));
};

interface FoundProblem {
  kind: PriceProblem['kind'];
  at: readonly (string | number)[];
  problem: string;
}

/** Returns the warnings of the start that concern prices. */
function ofPrices(settings: Settings): FoundProblem[] {
  return configurationWarnings(settings).flatMap(({ kind, ...found }) =>
    kind === 'group' || kind === 'channel' ? [] : [{ kind, ...found }],
  );
}

function valuesWithoutRequest(settings: Settings): FoundProblem[] {
  return ruleLists(settings)
    .flatMap(impossibleValues)
    .map(({ at, value }) => ({
      kind: 'impossible_value',
      at,
      problem: `no request for such a model has the value ${value}.`,
    }));
}

function problemView({ kind, at, problem }: FoundProblem): PriceProblem {
  return { kind, setting: at.join('.'), problem };
}
