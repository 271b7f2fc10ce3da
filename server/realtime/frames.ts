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
const audioTag = /"type"\s*:\s*"response\.audio\.delta"/;

/**
 * Whether a frame is a piece of audio, told by its head alone: parsing the audio would be most of a relay's work.
 * A quote inside a JSON string is escaped, so text cannot imitate the tag.
 */
export function isAudioDelta(data: Buffer): boolean {
  return audioTag.test(data.toString('latin1', 0, headLength));
}
