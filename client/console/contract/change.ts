import type { JsonObject } from './form.ts';

/** Returns the fields that differ. An emptied text is sent as an empty text, any other emptied field as null. */
export function changeOf(before: JsonObject, after: JsonObject): JsonObject {
  const change: JsonObject = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] === after[name]) continue;
    change[name] = after[name] ?? (typeof before[name] === 'string' ? '' : null);
  }
  return change;
}
