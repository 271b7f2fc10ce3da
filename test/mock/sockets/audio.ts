import { payloadOf } from './examples.ts';

const example = (message: string, read: (payload: unknown) => unknown) =>
  Buffer.from(String(read(payloadOf(message))), 'base64');

/** The PCM samples and the start of an MP3 file in the examples. */
const pcm = example('ResponseAudioDelta', (payload) => (payload as { delta: string }).delta);
const mp3 = example('InferenceAudio', (payload) => payload);
const opus = Buffer.from('OggS\0\x02', 'latin1');

/** Audio chunks of each response or sentence. */
export const chunksPerResponse = 2;

/** Returns the header of a 16-bit mono WAV stream of unknown length. */
function wavHeader(sampleRate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(0xffff_ffff, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(0xffff_ffff, 40);
  return header;
}

const chunks: Readonly<Record<string, (sampleRate: number, first: boolean) => Buffer>> = {
  pcm: () => pcm,
  wav: (sampleRate, first) => (first ? Buffer.concat([wavHeader(sampleRate), pcm]) : pcm),
  mp3: () => mp3,
  opus: () => opus,
};

/** Returns an audio chunk. The first one of a file has the header of the container. Only PCM and WAV are playable. */
export function audioChunk(format: string, sampleRate: number, first: boolean): Buffer {
  return chunks[format]?.(sampleRate, first) ?? pcm;
}
