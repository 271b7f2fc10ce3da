/** Decodes Base64. */
export function decodeBase64(text: string): Uint8Array {
  // Buffer is many times faster than atob, but browsers lack it.
  const buffer = globalThis.Buffer?.from(text, 'base64');
  if (buffer) return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
