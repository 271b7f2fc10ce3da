import { familySeconds } from '../models/video-options.ts';
import { type Conditions, type PriceFields, rangeOf, valuesOf } from '../settings/price-rules.ts';
import { type RuleList, ruleLists } from '../settings/priced-models.ts';
import type { Settings } from '../settings/settings.ts';
import { configurationWarnings, type Warning } from '../settings/warnings.ts';
import * as eta from './eta/frame.ts';
import * as native from './native/video-request.ts';
import { ratios as officialRatios } from './official/generic-request.ts';
import { boundsOf } from './official/model-bounds.ts';

type PricedModel = RuleList['models'][number];

/** The values that requests for a model can have. An absent field can have any. */
interface PossibleValues extends Partial<Record<Exclude<keyof PriceFields, 'duration'>, readonly unknown[]>> {
  /** Most seconds of a video. */
  maxSeconds?: number;
}

function possibleValues({ id, protocols }: PricedModel): PossibleValues {
  const has = (name: PricedModel['protocols'][number]) => protocols.includes(name);
  if (has('official')) {
    const { resolutions, seconds, modern } = boundsOf(id);
    const service_tier = modern ? ['default', 'flex'] : ['default'];
    return { resolution: resolutions, ratio: officialRatios, service_tier, maxSeconds: seconds[1] };
  }
  if (has('eta'))
    return {
      resolution: eta.resolutions,
      ratio: eta.ratios,
      audio: [true],
      maxSeconds: familySeconds.eta[1],
    };
  if (has('native_video') || has('native'))
    return { resolution: native.resolutions, ratio: native.ratios, maxSeconds: familySeconds.gamma[1] };
  return {};
}

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
