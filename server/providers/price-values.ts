import { type Conditions, type PriceFields, rangeOf, valuesOf } from '../settings/price-rules.ts';
import { type RuleList, ruleLists } from '../settings/priced-models.ts';
import type { Settings } from '../settings/settings.ts';
import { configurationWarnings, type Warning } from '../settings/warnings.ts';
import { type PossibleValues, possibleValues } from './video-values.ts';

/** Finds likely mistakes in a valid configuration, including conditions of price rules that no request meets. */
export function findWarnings(settings: Settings): Warning[] {
  return [...configurationWarnings(settings), ...ruleLists(settings).flatMap(impossibleValues)];
}

/** Finds values in the conditions of rules that no request for any of the models can have. */
function impossibleValues({ at, rules, models }: RuleList): Warning[] {
  const possible = models.map(possibleValues);
  if (possible.length === 0) return [];
  return rules.flatMap(({ when = {} }, index) =>
    (Object.keys(when) as (keyof PriceFields)[]).flatMap((field) =>
      neverMet(when, field, possible).map((value) => ({
        kind: 'impossible_value' as const,
        at: [...at, index, 'when', field],
        problem: `no request for such a model has the value ${value}.`,
      })),
    ),
  );
}

function neverMet(when: Conditions, field: keyof PriceFields, possible: readonly PossibleValues[]): string[] {
  if (field === 'duration') {
    const longest = Math.max(...possible.map(({ maxSeconds = Number.POSITIVE_INFINITY }) => maxSeconds));
    const [min] = rangeOf(when.duration);
    return min > longest ? [`${min} seconds or more`] : [];
  }
  const known = possible.map((values) => values[field]);
  return valuesOf(when[field])
    .filter((value) => known.every((values) => values !== undefined && !valuesOf(values).includes(value)))
    .map(String);
}
