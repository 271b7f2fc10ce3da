import { invalidParameter } from '../http/native-error.ts';

/** Mono samples in -1…1. */
export interface Recording {
  samples: Float32Array;
  /** Samples per second. */
  sampleRate: number;
}

interface Format {
  code: number;
  channels: number;
  sampleRate: number;
  bits: number;
}

const integers = 1;
const floats = 3;
const extensible = 0xfffe;

type SampleReader = (bytes: Buffer, offset: number) => number;

const readers: Readonly<Record<string, SampleReader>> = {
  [`${integers}/8`]: (bytes, offset) => ((bytes[offset] ?? 128) - 128) / 128,
  [`${integers}/16`]: (bytes, offset) => bytes.readInt16LE(offset) / 2 ** 15,
  [`${integers}/24`]: (bytes, offset) => bytes.readIntLE(offset, 3) / 2 ** 23,
  [`${integers}/32`]: (bytes, offset) => bytes.readInt32LE(offset) / 2 ** 31,
  [`${floats}/32`]: (bytes, offset) => bytes.readFloatLE(offset),
  [`${floats}/64`]: (bytes, offset) => bytes.readDoubleLE(offset),
};

/**
 * Reads a WAV file and mixes its channels. Throws `InvalidParameter` for the field `field` if the file is not
 * supported.
 */
export function readWav(file: Buffer, field: string): Recording {
  const createError = (problem: string) => invalidParameter(`${field}: the recording ${problem}`, field);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw createError(`is ${describeFormat(file)}; only WAV is supported`);
  }
  const { format, data } = readChunks(file);
  if (!format || !data) throw createError('is a WAV file without a format or without samples');
  const { channels, sampleRate, bits, code } = format;
  const read = readers[`${code}/${bits}`];
  if (!read)
    throw createError(
      `has ${bits}-bit samples of kind ${code}; only 8 to 32-bit PCM and floats are supported`,
    );
  if (channels < 1 || channels > 8 || sampleRate < 8000 || sampleRate > 192_000) {
    throw createError(
      `has ${channels} channels at ${sampleRate} Hz; only 1 to 8 at 8000 to 192000 Hz are supported`,
    );
  }
  const width = bits / 8;
  const samples = new Float32Array(Math.floor(data.length / (width * channels)));
  for (let index = 0; index < samples.length; index++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(data, (index * channels + channel) * width);
    const mixed = sum / channels;
    samples[index] = Number.isFinite(mixed) ? Math.max(-1, Math.min(1, mixed)) : 0;
  }
  return { samples, sampleRate };
}

function readChunks(file: Buffer): { format?: Format; data?: Buffer } {
  const found: { format?: Format; data?: Buffer } = {};
  for (let position = 12; position + 8 <= file.length; ) {
    const name = file.toString('latin1', position, position + 4);
    const length = file.readUInt32LE(position + 4);
    // A stream of unknown length has a chunk length beyond the end of the file.
    const body = file.subarray(position + 8, Math.min(file.length, position + 8 + length));
    if (name === 'fmt ' && body.length >= 16) {
      const code = body.readUInt16LE(0);
      found.format = {
        code: code === extensible && body.length >= 26 ? body.readUInt16LE(24) : code,
        channels: body.readUInt16LE(2),
        sampleRate: body.readUInt32LE(4),
        bits: body.readUInt16LE(14),
      };
    }
    if (name === 'data') found.data ??= body;
    position += 8 + length + (length % 2);
  }
  return found;
}

function describeFormat(file: Buffer): string {
  const start = file.toString('latin1', 0, 12);
  if (file.length === 0) return 'empty';
  if (start.startsWith('ID3') || (file[0] === 0xff && ((file[1] ?? 0) & 0xe0) === 0xe0)) return 'MP3';
  if (start.slice(4, 8) === 'ftyp') return 'MP4';
  if (start.startsWith('OggS')) return 'Ogg';
  if (start.startsWith('fLaC')) return 'FLAC';
  return 'not an audio file';
}
