import { ID3Writer } from 'browser-id3-writer';
import { createMp3Encoder } from 'wasm-media-encoders';
import { wavHeader } from '../../speech/encoders/wav.ts';
import { songRate } from './instruments/tone.ts';
import type { Stereo } from './mix.ts';

/** Kilobits per second. */
const bitrate = 192;

export interface SongTags {
  title: string;
  artist: string;
  style: string;
  lyrics: string;
  /** Beats per minute. */
  tempo: number;
  /** In ID3 format, such as `F#m`. */
  key: string;
  /** PNG. */
  cover: Uint8Array;
}

let encoder: ReturnType<typeof createMp3Encoder> | undefined;

/** Encodes an MP3 with its tags at the start. */
export async function toMp3({ left, right }: Stereo, tags: SongTags): Promise<Uint8Array<ArrayBuffer>> {
  encoder ??= createMp3Encoder();
  const lame = await encoder;
  lame.configure({ sampleRate: songRate, channels: 2, bitrate });
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < left.length; start += songRate) {
    const end = start + songRate;
    chunks.push(lame.encode([left.subarray(start, end), right.subarray(start, end)]).slice());
  }
  chunks.push(lame.finalize().slice());
  const audio = new Uint8Array(Buffer.concat(chunks));
  return addTags(audio.buffer, tags, (left.length * 1000) / songRate);
}

function addTags(audio: ArrayBuffer, tags: SongTags, milliseconds: number): Uint8Array<ArrayBuffer> {
  const writer = new ID3Writer(audio);
  writer
    .setFrame('TIT2', tags.title)
    .setFrame('TPE1', [tags.artist])
    .setFrame('TCON', [tags.style])
    .setFrame('TBPM', tags.tempo)
    .setFrame('TKEY', tags.key)
    .setFrame('TLEN', Math.round(milliseconds))
    .setFrame('APIC', { type: 3, description: '', data: new Uint8Array(tags.cover).buffer });
  if (tags.lyrics !== '') writer.setFrame('USLT', { description: '', language: 'und', lyrics: tags.lyrics });
  return new Uint8Array(writer.addTag());
}

/** Encodes a WAV with 16-bit stereo samples. */
export function toWav({ left, right }: Stereo): Uint8Array<ArrayBuffer> {
  const dataLength = left.length * 4;
  const header = wavHeader(songRate, 2, dataLength);
  const file = new Uint8Array(header.length + dataLength);
  file.set(header);
  const view = new DataView(file.buffer, header.length);
  for (let index = 0; index < left.length; index++) {
    view.setInt16(index * 4, toInteger(left[index]), true);
    view.setInt16(index * 4 + 2, toInteger(right[index]), true);
  }
  return file;
}

function toInteger(sample = 0): number {
  return Math.max(-32768, Math.min(32767, Math.round(sample * 32767)));
}
