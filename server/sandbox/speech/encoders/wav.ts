import type { AudioSettings } from '../commands.ts';
import { toPcm16 } from '../level.ts';
import type { AudioEncoder } from './encoder.ts';

const headerLength = 44;
const unknownLength = 0xffffffff;

/** Creates a WAV encoder. The header in the first chunk has an unknown length, which `completeWav` replaces. */
export function createWavEncoder({ sampleRate, channels }: AudioSettings): AudioEncoder {
  let started = false;
  return {
    inputRate: sampleRate,
    encode(samples) {
      const pcm = toPcm16(samples, channels);
      if (started) return pcm;
      started = true;
      const bytes = new Uint8Array(headerLength + pcm.length);
      bytes.set(wavHeader(sampleRate, channels, unknownLength));
      bytes.set(pcm, headerLength);
      return bytes;
    },
    finish: () => new Uint8Array(),
    release: () => {},
  };
}

/** Creates a header for 16-bit PCM. `dataLength` is in bytes. */
export function wavHeader(sampleRate: number, channels: number, dataLength: number): Buffer {
  const header = Buffer.alloc(headerLength);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(Math.min(dataLength + headerLength - 8, unknownLength), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataLength, 40);
  return header;
}

/** Writes the actual lengths to the header of a complete file, in place. */
export function completeWav(file: Buffer): void {
  file.writeUInt32LE(file.length - 8, 4);
  file.writeUInt32LE(file.length - headerLength, 40);
}

/** Creates an encoder for 16-bit little-endian samples without a header. */
export function createPcmEncoder({ sampleRate, channels }: AudioSettings): AudioEncoder {
  return {
    inputRate: sampleRate,
    encode: (samples) => toPcm16(samples, channels),
    finish: () => new Uint8Array(),
    release: () => {},
  };
}
