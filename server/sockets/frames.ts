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
