import type { components } from '../../generated/http.ts';
import { invalid } from '../lib/failure.ts';
import { conflict } from '../models/media-rules.ts';

type Schemas = components['schemas'];

/**
 * What a driver keeps of an upstream's answer about a video, the same for every protocol, so that each format can
 * show each model. It holds no upstream id.
 */
export interface VideoResult {
  /** Address of the video, where there is one. */
  video_url?: string;
  /** Where the gateway fetches it itself, when clients are shown another address. */
  source_url?: string;
  /** For the `metadata` of the generic task object. */
  metadata?: Schemas['VideoTaskMetadata'];
  /** The upstream's own words, for the format that is like its protocol. */
  native?: Readonly<Record<string, unknown>>;
}

/** What the gateway remembers of a request for a video, the same for every protocol. */
export interface VideoFacts {
  /** As the client gave them; the generic task object shows them. */
  seconds?: string;
  size?: string;
  prompt?: string;
}

/** A request of the generic routes: what `/v1/videos` takes is more than what `/v1/video/generations` does. */
export type GenericVideoRequest = components['schemas']['CreateVideoRequest'];

/** A request for a video in the words of an upstream's protocol. */
export interface TranslatedVideo {
  /** The upstream's body; the driver puts the upstream's name of the model into it. */
  body: Readonly<Record<string, unknown>>;
  facts: VideoFacts & Readonly<Record<string, unknown>>;
  /** Seconds of video that are reserved: the most that can come of it. */
  expectedUnits: number;
  /** Milliseconds until the task fails if it is not final by then. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** What the client calls each item of the body's `content`. */
  fields?: readonly string[];
}

/** A field of a request and the value in it. */
export interface FieldValue<Value> {
  field: string;
  value: Value;
}

/**
 * The first of several fields that mean the same; undefined when none is present.
 *
 * @throws Failure 400 that names both fields when two of them disagree
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

/** The fields of a generic request that mean the ratio. */
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
 * The seconds that a generic request asks for, and the field that holds them; undefined when it has none. Gamma, whose
 * `seconds` takes precedence, does not use it.
 *
 * @throws Failure 400 when two fields disagree
 */
export function lengthAsked({
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
