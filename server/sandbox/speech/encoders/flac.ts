import type { AudioSettings } from '../commands.ts';
import { toPcm16 } from '../level.ts';
import type { AudioEncoder } from './encoder.ts';

const blockSize = 4096;
const streamInfoLength = 34;

/** Computes the checksum of a frame header (polynomial 0x07). */
export function crc8(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = value & 0x80 ? ((value << 1) ^ 0x07) & 0xff : value << 1;
  }
  return value;
}

const crc16Table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 8;
  for (let bit = 0; bit < 8; bit++) value = value & 0x8000 ? (value << 1) ^ 0x8005 : value << 1;
  return value;
});

/** Computes the checksum of a whole frame (polynomial 0x8005). */
export function crc16(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ (crc16Table[(value >> 8) ^ byte] ?? 0);
  return value;
}

/** Creates a FLAC encoder with verbatim subframes: valid and lossless, but not smaller than PCM. */
export function createFlacEncoder({ sampleRate, channels }: AudioSettings): AudioEncoder {
  let frameNumber = 0;
  let started = false;
  let rest = new Float32Array();

  function frame(samples: Float32Array): Buffer {
    const header = [0xff, 0xf8, 0x70, ((channels - 1) << 4) | 0x08, ...encodeFrameNumber(frameNumber++)];
    header.push((samples.length - 1) >> 8, (samples.length - 1) & 0xff);
    header.push(crc8(Uint8Array.from(header)));
    const subframe = Buffer.concat([Buffer.from([0x02]), Buffer.from(toPcm16(samples, 1)).swap16()]);
    const bytes = Buffer.concat([Buffer.from(header), ...Array<Buffer>(channels).fill(subframe)]);
    const footer = Buffer.alloc(2);
    footer.writeUInt16BE(crc16(bytes));
    return Buffer.concat([bytes, footer]);
  }

  function write(samples: Float32Array, final: boolean): Uint8Array {
    const parts = started ? [] : [streamHeader(sampleRate, channels)];
    started = true;
    const input = new Float32Array(rest.length + samples.length);
    input.set(rest);
    input.set(samples, rest.length);
    let position = 0;
    // Only the last block of a stream with a fixed block size can be shorter.
    while (input.length - position >= blockSize || (final && position < input.length)) {
      parts.push(frame(input.subarray(position, position + blockSize)));
      position += blockSize;
    }
    rest = input.slice(position);
    return Buffer.concat(parts);
  }

  return {
    inputRate: sampleRate,
    encode: (samples) => write(samples, false),
    finish: () => write(new Float32Array(), true),
    release: () => {},
  };
}

/** Returns the stream marker and STREAMINFO. Frame sizes, total length and checksum are set to "unknown". */
function streamHeader(sampleRate: number, channels: number): Buffer {
  const header = Buffer.alloc(8 + streamInfoLength);
  header.write('fLaC', 0, 'latin1');
  header[4] = 0x80;
  header[7] = streamInfoLength;
  header.writeUInt16BE(blockSize, 8);
  header.writeUInt16BE(blockSize, 10);
  // 20 bits sample rate, 3 bits channels - 1, 5 bits sample size - 1, 36 bits total samples.
  header.writeBigUInt64BE((BigInt(sampleRate) << 44n) | (BigInt(channels - 1) << 41n) | (15n << 36n), 18);
  return header;
}

/** Writes the total number of samples per channel to the header of a complete file, in place. */
export function completeFlac(file: Buffer, samples: number): void {
  const fields = file.readBigUInt64BE(18);
  file.writeBigUInt64BE((fields & ~0xfffffffffn) | BigInt(samples), 18);
}

/** Encodes a frame number in the extended UTF-8 form of FLAC. */
function encodeFrameNumber(value: number): number[] {
  if (value < 0x80) return [value];
  if (value < 0x800) return [0xc0 | (value >> 6), 0x80 | (value & 0x3f)];
  return [0xe0 | (value >> 12), 0x80 | ((value >> 6) & 0x3f), 0x80 | (value & 0x3f)];
}
