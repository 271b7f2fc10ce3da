import type { Failure } from '../failure.ts';
import { model3dInputFailure, nativeMediaFailure, officialContentFailure } from '../models/media-rules.ts';

/** One error of the contract's validator. */
interface Violation {
  path: string;
  message: string;
}

const nativeList = /^\/body((?:\/metadata)?\/input\/media|\/metadata\/input\.media)(?:\/\d+\/type)?$/;
const officialList = /^\/body((?:\/metadata)?\/content)$/;
const model3dInput = /^\/body(\/input)(?:\/(?:prompt|image|images))?$/;

/**
 * What is wrong with the media of a body, in words: a schema that forbids a combination tells neither that it is
 * one nor what it is about. Undefined when the violation is about something else.
 */
export function mediaFailure(
  operation: string,
  body: unknown,
  { path, message }: Violation,
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
  const [, max] = /no more than (\d+) valid/.exec(message) ?? [];
  if (!Array.isArray(content?.value) || max === undefined) return undefined;
  return officialContentFailure(content.value, content.field, Number(max));
}

/** The part of the body that the violation's path leads to. */
function placeIn(body: unknown, place: RegExp, path: string): { field: string; value: unknown } | undefined {
  const parts = place.exec(path)?.[1]?.slice(1).split('/');
  return parts === undefined ? undefined : { field: parts.join('.'), value: valueAt(body, parts) };
}

function valueAt(body: unknown, parts: readonly string[]): unknown {
  let value = body;
  for (const part of parts) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
