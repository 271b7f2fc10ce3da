import type { EventError, EventValidator } from '../../../generated/event-validators.js';
import { isObject, type JsonObject } from '../../../openapi/tools/document.ts';

/** What is wrong with a client's frame. */
export interface FrameProblem {
  /** Path with dots; empty for the whole frame. */
  field: string;
  /** A sentence that names the field. */
  message: string;
  /** Whether it breaks the form of the event, rather than the range of a value. */
  malformed: boolean;
}

/** A frame as a JSON object; undefined when it is none. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const formKeywords: ReadonlySet<string> = new Set(['required', 'type', 'discriminator']);

/** What the generated validator has against a frame; undefined when it is valid. */
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
