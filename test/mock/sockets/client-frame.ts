import type { EventError, EventValidator } from '../../../generated/event-validators.js';
import { isObject, type JsonObject } from '../../../openapi/tools/document.ts';

/** A problem of a client frame. */
export interface FrameProblem {
  /** Dotted path. Empty for the whole frame. */
  field: string;
  /** A sentence that names the field. */
  message: string;
  /** Whether the structure of the event is invalid, rather than a value out of range. */
  malformed: boolean;
}

/** Parses a frame. Undefined if it is not a JSON object. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const formKeywords: ReadonlySet<string> = new Set(['required', 'type', 'discriminator']);

/** Returns the first validation problem of a frame. Undefined if it is valid. */
export function frameProblem(validate: EventValidator<unknown>, frame: unknown): FrameProblem | undefined {
  if (validate(frame)) return undefined;
  const [error] = validate.errors ?? [];
  if (error === undefined) return { field: '', message: 'is not valid.', malformed: true };
  const field = fieldOf(error);
  return {
    field,
    message: `${field}: ${error.message ?? 'is not valid'}.`,
    malformed: formKeywords.has(error.keyword),
  };
}

function fieldOf({ instancePath, keyword, params }: EventError): string {
  const missing = keyword === 'required' ? [String(params.missingProperty)] : [];
  return [...instancePath.split('/').slice(1), ...missing].join('.');
}
