import type { EventError, EventValidator } from '../../generated/event-validators.js';
import { valueProblem } from '../http/value-problem.ts';

export type JsonObject = Record<string, unknown>;

/** Parses a JSON object. Returns undefined if the text is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a property that should be an object. Returns an empty object if it is not. */
export function objectField(value: JsonObject, name: string): JsonObject {
  const property = value[name];
  return typeof property === 'object' && property !== null ? (property as JsonObject) : {};
}

/** The first bytes of an audio event, which contain its type. */
const headBytes = 256;
/** Shorter frames are parsed and validated: that is cheap. */
const minUnparsedBytes = 1024;
const closingBrace = 0x7d;
const audioType = /"type"\s*:\s*"response\.audio\.delta"/;

/**
 * Whether a frame is an audio chunk. It is not parsed, since parsing would be most of a relay's CPU time. JSON strings
 * escape quotes, so text cannot imitate the type.
 */
export function isAudioDelta(data: Buffer): boolean {
  if (data.length < minUnparsedBytes || data[data.length - 1] !== closingBrace) return false;
  return audioType.test(data.toString('latin1', 0, headBytes));
}

/** Reads a server event of a session from a provider's frame. Returns undefined if it is not one. */
export function readServerEvent(data: Buffer, binary: boolean): (JsonObject & { type: string }) | undefined {
  const event = binary ? undefined : parseObject(data.toString('utf8'));
  return event !== undefined && isServerEvent(event) ? event : undefined;
}

/** Whether an object has the required fields of a server event. Errors need no id: the gateway rewrites them. */
function isServerEvent(event: JsonObject): event is JsonObject & { type: string } {
  const { type, event_id: id } = event;
  if (type === 'response.audio.delta' && typeof event.delta !== 'string') return false;
  return typeof type === 'string' && (typeof id === 'string' || type === 'error');
}

/** Memory for used ids. The oldest are dropped first, so that a client cannot fill the memory. */
const maxUsedIdBytes = 1024 * 1024;
const idOverheadBytes = 64;

/** The ids that a connection has used. */
export class UsedIds {
  readonly #ids = new Set<string>();
  #size = 0;

  /** Stores an id. Returns false if it was used before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    this.#size += id.length + idOverheadBytes;
    for (const oldest of this.#ids) {
      if (this.#size <= maxUsedIdBytes) break;
      this.#ids.delete(oldest);
      this.#size -= oldest.length + idOverheadBytes;
    }
    return true;
  }
}

/** A field of an event that breaks a rule. */
export interface FieldProblem {
  /** Path with dots. Empty for the whole event. */
  field: string;
  message: string;
  /** Whether a field is missing or has the wrong type, rather than a value out of range. */
  malformed: boolean;
}

/** Checks an event with its generated validator and for values that no field may contain. */
export function fieldProblem<Event>(
  validate: EventValidator<Event>,
  value: unknown,
): FieldProblem | undefined {
  const problem = valueProblem(value);
  if (problem !== undefined) return { ...problem, malformed: false };
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  if (error === undefined) return { field: '', message: 'is not valid.', malformed: true };
  const path = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required') path.push(String(error.params.missingProperty));
  return {
    field: path.join('.'),
    message: `${explain(error)}.`,
    malformed: ['required', 'type'].includes(error.keyword),
  };
}

function explain({ keyword, params, message }: EventError): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
  if (keyword === 'maxProperties') return 'must be empty';
  return message ?? 'is not valid';
}
