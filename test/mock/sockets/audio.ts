import { payloadOf } from './examples.ts';

const example = (message: string, pick: (payload: unknown) => unknown) =>
  Buffer.from(String(pick(payloadOf(message))), 'base64');

/** The document's samples of PCM and its beginning of an MP3. */
const pcm = example('ResponseAudioDelta', (payload) => (payload as { delta: string }).delta);
const mp3 = example('InferenceAudio', (payload) => payload);
const opus = Buffer.from('OggS\0\x02', 'latin1');

/** Pieces in which the mock speaks a response or a sentence. */
export const piecesEach = 2;

/** Header of a 16-bit mono WAV file of unknown length, as a stream has it. */
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

const pieces: Readonly<Record<string, (sampleRate: number, first: boolean) => Buffer>> = {
  pcm: () => pcm,
  wav: (sampleRate, first) => (first ? Buffer.concat([wavHeader(sampleRate), pcm]) : pcm),
  mp3: () => mp3,
  opus: () => opus,
};

/** A piece of mock audio. The first of a file has the container's header; only PCM and WAV can be played. */
export function audioPiece(format: string, sampleRate: number, first: boolean): Buffer {
  return pieces[format]?.(sampleRate, first) ?? pcm;
}
