import { familySeconds } from '../models/video-options.ts';
import type { PriceFields } from '../settings/price-rules.ts';
import type { RuleList } from '../settings/priced-models.ts';
import * as eta from './eta/frame.ts';
import * as native from './native/video-request.ts';
import { ratios as officialRatios } from './official/generic-request.ts';
import { boundsOf } from './official/model-bounds.ts';

/** The values that requests for a model, and its videos, can have. An absent field can have any. */
export interface PossibleValues
  extends Partial<Record<Exclude<keyof PriceFields, 'duration'>, readonly unknown[]>> {
  resolution?: readonly string[];
  ratio?: readonly string[];
  /** Most seconds of a video. */
  maxSeconds?: number;
}

/** Returns the values that videos of a model can have. Empty for a model without videos. */
export function possibleValues({
  id,
  protocols,
}: Pick<RuleList['models'][number], 'id' | 'protocols'>): PossibleValues {
  const has = (name: (typeof protocols)[number]) => protocols.includes(name);
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
