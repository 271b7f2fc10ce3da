import type { EventError, EventValidator } from '../../generated/event-validators.js';
import { valueProblem } from '../http/value-problem.ts';

export type JsonObject = Record<string, unknown>;

/** A frame's JSON object; undefined when it is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const object = typeof value === 'object' && value !== null && !Array.isArray(value);
    return object ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** A property that should be an object; empty when it is none. */
export function inner(value: JsonObject, name: string): JsonObject {
  const found = value[name];
  return typeof found === 'object' && found !== null ? (found as JsonObject) : {};
}

/** Where the tag of an audio event stands, whatever comes before it. */
const headLength = 256;
/** Frames below this are parsed like any other, which costs little and finds out what is wrong with them. */
const small = 1024;
const closingBrace = 0x7d;
const audioTag = /"type"\s*:\s*"response\.audio\.delta"/;

/**
 * Whether a frame is a whole piece of audio, told by its head and its last byte: parsing the audio would be most of
 * a relay's work. A quote inside a JSON string is escaped, so text cannot imitate the tag.
 */
export function isAudioDelta(data: Buffer): boolean {
  if (data.length < small || data[data.length - 1] !== closingBrace) return false;
  return audioTag.test(data.toString('latin1', 0, headLength));
}

/** A provider's frame as a server event of a session; undefined when it is none. */
export function readServerEvent(data: Buffer, binary: boolean): (JsonObject & { type: string }) | undefined {
  const event = binary ? undefined : parseObject(data.toString('utf8'));
  return event !== undefined && isServerEvent(event) ? event : undefined;
}

/** Whether an object has what every server event of a session must have. Errors are written anew by the gateway. */
function isServerEvent(event: JsonObject): event is JsonObject & { type: string } {
  const { type, event_id: id } = event;
  if (type === 'response.audio.delta' && typeof event.delta !== 'string') return false;
  return typeof type === 'string' && (typeof id === 'string' || type === 'error');
}

/** What is remembered of ids, in bytes; the oldest are forgotten first, so that a client cannot fill the memory. */
const remembered = 1024 * 1024;
/** What an id takes beside its characters. */
const overhead = 64;

/** The ids that a connection has used. */
export class SeenIds {
  readonly #ids = new Set<string>();
  #size = 0;

  /** Remembers an id. False when it was used before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    this.#size += id.length + overhead;
    for (const oldest of this.#ids) {
      if (this.#size <= remembered) break;
      this.#ids.delete(oldest);
      this.#size -= oldest.length + overhead;
    }
    return true;
  }
}

/** What is wrong with an event: which field, and what it must be. */
export interface FieldProblem {
  /** Path with dots; empty for the whole event. */
  field: string;
  message: string;
  /** Whether something is missing or of the wrong type, rather than out of its range. */
  malformed: boolean;
}

/** What the generated validator has against a value, or what no field may hold; undefined when it is valid. */
export function fieldProblem<Event>(
  validate: EventValidator<Event>,
  value: unknown,
): FieldProblem | undefined {
  const foreign = valueProblem(value);
  if (foreign !== undefined) return { ...foreign, malformed: false };
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  if (error === undefined) return { field: '', message: 'is not valid.', malformed: true };
  const at = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required') at.push(String(error.params.missingProperty));
  return {
    field: at.join('.'),
    message: `${explain(error)}.`,
    malformed: ['required', 'type'].includes(error.keyword),
  };
}

function explain({ keyword, params, message }: EventError): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
  if (keyword === 'maxProperties') return 'must be empty';
  if (keyword === 'pattern') return 'is not in the right form';
  return message ?? 'is not valid';
}
