import type { components } from '../../generated/http.ts';
import { invalid } from '../lib/failure.ts';
import { defaultResolution, knownModel } from '../models/catalogue.ts';
import { conflict } from '../models/media-rules.ts';
import type { VideoFamily } from '../models/video-options.ts';
import { highestResolution } from '../models/video-tokens.ts';
import type { OpenFields, PriceFields } from '../settings/price-rules.ts';
import type { TaskUsage } from '../tasks/driver.ts';

/** Stored result of a video task, the same for every protocol, so that each format can render each model. Has no upstream id. */
export interface VideoResult {
  video_url?: string;
  /** URL that the gateway fetches, if clients get another one. */
  source_url?: string;
  /** `metadata` of the generic task object. */
  metadata?: components['schemas']['VideoTaskMetadata'];
  /** The upstream's own fields, for the format of its protocol. */
  native?: Readonly<Record<string, unknown>>;
}

/** Stored properties of a video request, the same for every protocol. */
export interface VideoFacts {
  /** The client's values, for the generic task object. */
  seconds?: string;
  size?: string;
  prompt?: string;
}

/** A request of the generic routes. `/v1/videos` accepts more fields than `/v1/video/generations`. */
export type GenericVideoRequest = components['schemas']['CreateVideoRequest'];

export interface TranslatedVideo {
  /** The upstream's body. The driver adds the upstream's name of the model. */
  body: Readonly<Record<string, unknown>>;
  facts: VideoFacts & Readonly<Record<string, unknown>>;
  /** Maximum seconds of video, which are reserved. */
  expectedUnits: number;
  /** Upper bound of the completion tokens. */
  maxOutputTokens: number;
  /** The fields that the price depends on. One that the provider chooses has its highest value. */
  priceFields: PriceFields;
  /** The fields that the provider chooses. */
  openFields?: OpenFields;
  /** Milliseconds until an unfinished task fails. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** The client's field for each item of the body's `content`. */
  fields?: readonly string[];
}

/**
 * Returns the resolution that prices a request. `open` has the ones that the provider may choose, because neither the request nor the
 * catalog names one; the highest of them is the upper bound.
 */
export function pricedResolution<Resolution extends string>(
  family: VideoFamily,
  modelId: string,
  requested: string | undefined,
  values: readonly Resolution[],
): { resolution: string; open?: readonly Resolution[] } {
  if (requested !== undefined) return { resolution: requested };
  if (knownModel(modelId)) return { resolution: defaultResolution(family) };
  return { resolution: highestResolution(values), open: values };
}

/** Whether a provider chooses the ratio, by its default or by the media of the request. */
export function isOpenRatio(ratio: string | undefined): boolean {
  return ratio === undefined || ratio === 'adaptive';
}

/** Returns the usage that a provider reports for a video. Without any, the upper bounds are charged. */
export function videoUsage(
  units: number | undefined,
  outputTokens: number | undefined,
): { usage?: TaskUsage } {
  if (units === undefined && outputTokens === undefined) return {};
  return {
    usage: { ...(units !== undefined && { units }), ...(outputTokens !== undefined && { outputTokens }) },
  };
}

/** Values of equivalent fields by field name. */
type Equivalents<Value> = Readonly<Record<string, Value | undefined>>;

/** Returns the first of several equivalent fields. @throws Failure 400 that names both fields when two of them differ */
export function agreedValue<Value extends string | number | boolean>(
  values: Equivalents<Value>,
): { field: string; value: Value } | undefined {
  const present = Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value }],
  );
  const [first] = present;
  const other = present.find(({ value }) => value !== first?.value);
  if (first !== undefined && other !== undefined)
    throw invalid(other.field, `disagrees with ${first.field}, which is ${first.value}; send one of them.`);
  return first;
}

/** Returns an allowed value. Undefined without a value. @throws Failure 400 for any other value */
export function oneOf<Value extends string>(
  field: string,
  value: string | undefined,
  allowed: readonly Value[],
): Value | undefined {
  const found = allowed.find((one) => one === value);
  if (found === undefined && value !== undefined)
    throw invalid(field, `must be one of ${allowed.join(', ')}.`);
  return found;
}

/** Returns the fields of a generic request that set the ratio. @throws Failure 400 for a ratio that is not allowed */
export function ratioFields<Ratio extends string>(
  { aspect_ratio, metadata }: GenericVideoRequest,
  allowed: readonly Ratio[],
): Equivalents<Ratio> {
  const fields = {
    aspect_ratio,
    'metadata.ratio': metadata?.ratio,
    'metadata.aspect_ratio': metadata?.aspect_ratio,
  };
  const checked = Object.entries(fields).map(([field, value]) => [field, oneOf(field, value, allowed)]);
  return Object.fromEntries(checked) as Equivalents<Ratio>;
}

/** Returns the requested seconds, except for gamma, where `seconds` takes precedence. @throws Failure 400 if two differ */
export function requestedSeconds({
  seconds,
  duration,
}: GenericVideoRequest): { field: 'seconds' | 'duration'; length: number } | undefined {
  if (seconds === undefined)
    return duration === undefined ? undefined : { field: 'duration', length: duration };
  const length = Number(seconds);
  if (duration !== undefined && duration !== length)
    throw conflict('duration', `disagrees with seconds, which is ${length}; give one of them.`);
  return { field: 'seconds', length };
}
