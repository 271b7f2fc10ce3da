import { isObject, type JsonObject } from '../http/json-body.ts';
import { NativeError } from '../http/native-error.ts';

const longestEventId = 512;

/** Throws unless the text is a JSON object. */
export function parseEvent(text: string): JsonObject {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    event = undefined;
  }
  if (!isObject(event)) throw invalidEvent('An event must be a JSON object');
  return event;
}

/** The event ids of one connection: each may be used once. */
export class EventIds {
  readonly #used = new Set<string>();

  /** Throws when the event has no id, or one that was used before. */
  use({ event_id: id }: JsonObject): void {
    if (typeof id !== 'string' || id === '' || id.length > longestEventId) {
      throw invalidEvent(`event_id must be a string of 1 to ${longestEventId} characters`, 'event_id');
    }
    if (this.#used.has(id)) throw invalidEvent('event_id must be new in its connection', 'event_id');
    this.#used.add(id);
  }
}

export function invalidEvent(message: string, field?: string): NativeError {
  return new NativeError(400, 'invalid_event', message, {}, field);
}

export function invalidValue(message: string): NativeError {
  return new NativeError(400, 'invalid_value', message);
}
