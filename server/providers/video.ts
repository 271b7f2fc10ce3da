import type { components } from '../../generated/http.ts';
import { invalid } from '../lib/failure.ts';
import { conflict } from '../models/media-rules.ts';

type Schemas = components['schemas'];

/**
 * Stored result of a video task, the same for every protocol, so that each format can render each model. It contains no
 * upstream id.
 */
export interface VideoResult {
  video_url?: string;
  /** URL that the gateway fetches, if clients get another one. */
  source_url?: string;
  /** `metadata` of the generic task object. */
  metadata?: Schemas['VideoTaskMetadata'];
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

/** A video request, translated to an upstream's protocol. */
export interface TranslatedVideo {
  /** The upstream's body. The driver adds the upstream's name of the model. */
  body: Readonly<Record<string, unknown>>;
  facts: VideoFacts & Readonly<Record<string, unknown>>;
  /** Maximum seconds of video, which are reserved. */
  expectedUnits: number;
  /** Milliseconds until an unfinished task fails. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** The client's field for each item of the body's `content`. */
  fields?: readonly string[];
}

/** A field of a request and the value in it. */
export interface FieldValue<Value> {
  field: string;
  value: Value;
}

/**
 * Returns the first of several equivalent fields. Undefined if none is present.
 *
 * @throws Failure 400 that names both fields when two of them differ
 */
export function agreedValue<Value extends string | number | boolean>(
  candidates: readonly FieldValue<Value | undefined>[],
): FieldValue<Value> | undefined {
  const present = candidates.flatMap(({ field, value }) => (value === undefined ? [] : [{ field, value }]));
  const [first] = present;
  const other = present.find(({ value }) => value !== first?.value);
  if (first !== undefined && other !== undefined)
    throw invalid(other.field, `disagrees with ${first.field}, which is ${first.value}; send one of them.`);
  return first;
}

/** Fields of a generic request that set the ratio. */
export function ratioFields({
  aspect_ratio,
  metadata,
}: GenericVideoRequest): readonly FieldValue<string | undefined>[] {
  return [
    { field: 'aspect_ratio', value: aspect_ratio },
    { field: 'metadata.ratio', value: metadata?.ratio },
    { field: 'metadata.aspect_ratio', value: metadata?.aspect_ratio },
  ];
}

/**
 * Returns the requested seconds and their field. Undefined if the request has none. Not used for gamma, where `seconds`
 * takes precedence.
 *
 * @throws Failure 400 when two fields differ
 */
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
