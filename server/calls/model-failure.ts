import type { Violation } from '../http/explain.ts';
import { type Failure, invalid } from '../lib/failure.ts';
import { field, textField } from '../lib/json.ts';
import {
  besideFrame,
  conflict,
  model3dInputFailure,
  nativeMediaFailure,
  officialContentFailure,
} from '../models/media-rules.ts';
import {
  etaSecondsWords,
  familySeconds,
  secondsWords,
  unsupportedOption,
  videoFamily,
  videoSeconds,
} from '../models/video-options.ts';

/** Builds a failure that names the model's own rule. Undefined if the rule of the schema is as precise. */
export function modelFailure(operation: string, body: unknown, violation: Violation): Failure | undefined {
  return (
    optionFailure(operation, body, violation) ??
    mediaFailure(operation, body, violation) ??
    lengthFailure(operation, body, violation)
  );
}

/** Handles options that the model of a generic request does not have. Schemas forbid them by `not`. */
function optionFailure(operation: string, body: unknown, { keyword }: Violation): Failure | undefined {
  if (!genericOperations.includes(operation) || keyword !== 'not') return undefined;
  const model = textField(body, 'model');
  const family = model === undefined ? undefined : videoFamily(model);
  return model === undefined || family === undefined
    ? undefined
    : unsupportedOption(family, model, body as object);
}

const genericOperations = ['createVideo', 'createGenericVideo'];

const videoOperations = ['createVideo', 'createGenericVideo', 'createNativeVideo', 'createOfficialVideo'];
const nativeList = /^\/body((?:\/metadata)?\/input\/media|\/metadata\/input\.media)(?:\/\d+\/type)?$/;
const officialList = /^\/body((?:\/metadata)?\/content)(?:\/(\d+))?$/;
const model3dInput = /^\/body(\/input)(?:\/(?:prompt|image|images))?$/;

/**
 * Describes invalid media of a body. A schema that forbids a combination does not name the combination. Undefined if the
 * violation is about something else.
 */
function mediaFailure(
  operation: string,
  body: unknown,
  { path, rule, keyword, params }: Violation,
): Failure | undefined {
  if (operation === 'createModel3d') {
    const input = placeIn(body, model3dInput, path);
    return typeof input?.value === 'object' && input.value !== null
      ? model3dInputFailure(input.value, input.field)
      : undefined;
  }
  const media = placeIn(body, nativeList, path);
  if (Array.isArray(media?.value)) return nativeMediaFailure(media.value, media.field);
  const content = placeIn(body, officialList, path);
  if (Array.isArray(content?.value) && keyword === 'contains') {
    const max = typeof params.maxContains === 'number' ? params.maxContains : undefined;
    return officialContentFailure(content.value, content.field, max);
  }
  if (!videoOperations.includes(operation) || keyword !== 'not') return undefined;
  const [, , index] = officialList.exec(path) ?? [];
  if (Array.isArray(content?.value) && index !== undefined)
    return besideFrame(content.value, content.field, index);
  // `not` forbids combinations of valid fields.
  return conflict(path.split('/').slice(2).join('.'), `${rule}.`);
}

/** Returns the part of the body at the path of the violation. */
function placeIn(body: unknown, place: RegExp, path: string): { field: string; value: unknown } | undefined {
  const parts = place.exec(path)?.[1]?.slice(1).split('/');
  return parts === undefined ? undefined : { field: parts.join('.'), value: parts.reduce(field, body) };
}

const lengthPlace = /^\/body((?:\/metadata)?(?:\/parameters)?\/(?:seconds|duration))$/;

/**
 * Describes an invalid length of a video by the model's range. A schema describes a string by its pattern and a number by
 * one bound. Undefined if the violation is about something else.
 */
function lengthFailure(operation: string, body: unknown, { path }: Violation): Failure | undefined {
  const place = lengthPlace.exec(path)?.[1];
  if (place === undefined || !videoOperations.includes(operation)) return undefined;
  const model = textField(body, 'model');
  const range = model === undefined ? undefined : videoSeconds(model);
  if (range === undefined) return undefined;
  const isEdit = field(body, 'video') !== undefined;
  const words = range === familySeconds.eta ? etaSecondsWords(isEdit) : secondsWords(range);
  return invalid(place.slice(1).replaceAll('/', '.'), words);
}
