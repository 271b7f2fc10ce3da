import { isObject } from '../../lib/json.ts';

/** An event whose usage can state the charge. */
export interface ChargeableEvent {
  /** The lines of the event, one character per byte. Long strings may be cut off. */
  readonly text: string;
  /** Number of characters at the end of `text` without a string that was cut off. */
  readonly bytesAfterCut: number;
  /** The parsed usage, if the event has one. */
  readonly usage: unknown;
}

/** Strings, punctuation and other values of JSON. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/**
 * Adds the charged quota to the usage of an event. `bytes` is the event, or its end from any byte on. Returns the bytes
 * unchanged if they do not contain the whole usage.
 */
export function withCharge(bytes: Buffer, event: ChargeableEvent, charged: number): Buffer {
  const { text, bytesAfterCut, usage } = event;
  const place = usagePlace(text);
  if (place === undefined || text.length - place.from > Math.min(bytesAfterCut, bytes.length)) return bytes;
  const offset = bytes.length - text.length;
  const value = JSON.stringify({ ...(isObject(usage) && usage), cost: charged });
  return Buffer.concat([
    bytes.subarray(0, place.from + offset),
    Buffer.from(place.isField ? value : `,"usage":${value}`, 'latin1'),
    bytes.subarray(place.to + offset),
  ]);
}

/** Position of the usage in an event. `isField`: false if the event has no usage, which then has to be inserted there. */
interface UsagePlace {
  from: number;
  to: number;
  isField: boolean;
}

/** Finds the value of the field `usage`, or the end of the object without one. Undefined: there is no object. */
function usagePlace(text: string): UsagePlace | undefined {
  let depth = 0;
  let last = '';
  let isUsage = false;
  let from: number | undefined;
  let place: UsagePlace | undefined;
  let end: number | undefined;
  for (const { 0: line, index: lineAt } of text.matchAll(/(?<=^data:).*/gm))
    for (const { 0: token, index } of line.matchAll(tokens)) {
      const at = lineAt + index;
      if (isUsage) from ??= at;
      if (token === '{' || token === '[') depth += 1;
      if (token === '}' || token === ']') depth -= 1;
      if (depth === 0) end = at;
      if (depth === 1 && isUsage && from !== undefined) {
        place = { from, to: at + token.length, isField: true };
        isUsage = false;
        from = undefined;
      } else if (depth === 1 && token === ':') isUsage = last === '"usage"';
      last = token;
    }
  return place ?? (end === undefined ? undefined : { from: end, to: end, isField: false });
}
