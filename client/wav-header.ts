const headerLength = 44;
const unknownLength = 0xffffffff;

/**
 * Returns the 44-byte WAV header for 16-bit mono PCM. `pcmBytes` is the length of the PCM data. Without it the header marks
 * the length as unknown, which most players accept.
 */
export function wavHeader(sampleRate: number, pcmBytes = unknownLength): Uint8Array {
  const header = new Uint8Array(headerLength);
  const view = new DataView(header.buffer);
  const word = (at: number, text: string) => header.set(new TextEncoder().encode(text), at);
  word(0, 'RIFF');
  view.setUint32(4, Math.min(pcmBytes + headerLength - 8, unknownLength), true);
  word(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, 'data');
  view.setUint32(40, Math.min(pcmBytes, unknownLength), true);
  return header;
}
