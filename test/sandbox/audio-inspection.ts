import { createDecoder } from 'libopus-wasm';
import { crc8, crc16 } from '../../server/sandbox/speech/encoders/flac.ts';
import { oggChecksum } from '../../server/sandbox/speech/encoders/opus.ts';

/** Properties of a decoded audio file. Samples are of the first channel. */
export interface InspectedAudio {
  sampleRate: number;
  channels: number;
  seconds: number;
  samples: Float32Array;
}

export function inspectPcm(file: Buffer, sampleRate: number, channels = 1): InspectedAudio {
  const samples = new Float32Array(file.length / 2 / channels);
  for (let index = 0; index < samples.length; index++)
    samples[index] = file.readInt16LE(index * 2 * channels) / 32768;
  return { sampleRate, channels, seconds: samples.length / sampleRate, samples };
}

export function inspectWav(file: Buffer): InspectedAudio {
  const text = (start: number, end: number) => file.toString('latin1', start, end);
  if (text(0, 4) !== 'RIFF' || text(8, 16) !== 'WAVEfmt ' || text(36, 40) !== 'data')
    throw new Error('Not a WAV file');
  if (file.readUInt32LE(4) !== file.length - 8) throw new Error('Wrong RIFF length');
  if (file.readUInt32LE(40) !== file.length - 44) throw new Error('Wrong data length');
  if (file.readUInt16LE(20) !== 1 || file.readUInt16LE(34) !== 16) throw new Error('Not 16-bit PCM');
  const channels = file.readUInt16LE(22);
  const sampleRate = file.readUInt32LE(24);
  if (file.readUInt32LE(28) !== sampleRate * channels * 2) throw new Error('Wrong byte rate');
  return inspectPcm(file.subarray(44), sampleRate, channels);
}

const layer3Rates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/**
 * Parses the frames of an MP3 file. `busiest` is the maximum number of audio bits in a frame of MPEG-2 mono: 0 for
 * silence.
 */
export function inspectMp3(
  file: Buffer,
): Omit<InspectedAudio, 'samples'> & { kbps: number; busiest: number } {
  let position = 0;
  let frames = 0;
  let busiest = 0;
  let [sampleRate, channels, kbps, samplesPerFrame] = [0, 0, 0, 0];
  while (position < file.length) {
    const header = file.readUInt32BE(position);
    if (header >>> 21 !== 0x7ff || ((header >> 17) & 3) !== 1) throw new Error(`No MP3 frame at ${position}`);
    const version = (header >> 19) & 3;
    const base = [44100, 48000, 32000][(header >> 10) & 3] ?? 0;
    sampleRate = version === 3 ? base : version === 2 ? base / 2 : base / 4;
    channels = ((header >> 6) & 3) === 3 ? 1 : 2;
    kbps = layer3Rates[version === 3 ? 0 : 1]?.[(header >> 12) & 15] ?? 0;
    samplesPerFrame = version === 3 ? 1152 : 576;
    if (version !== 3 && channels === 1) busiest = Math.max(busiest, soundBits(file, position + 4));
    position += Math.floor((samplesPerFrame * kbps * 125) / sampleRate) + ((header >> 9) & 1);
    frames++;
  }
  return { sampleRate, channels, kbps, busiest, seconds: (frames * samplesPerFrame) / sampleRate };
}

/** MPEG-2 mono side information: 9 bits, followed by 12 bits with the number of audio bits. */
function soundBits(file: Buffer, sideInfo: number): number {
  return (file.readUIntBE(sideInfo, 3) >> 3) & 0xfff;
}

/** Parses an Ogg Opus file, validates every page, and decodes it at 48 kHz. */
export async function inspectOpus(file: Buffer): Promise<InspectedAudio> {
  const packets: Buffer[] = [];
  let [position, pages, granule, flags] = [0, 0, 0, 0];
  while (position < file.length) {
    if (file.toString('latin1', position, position + 4) !== 'OggS')
      throw new Error(`No Ogg page at ${position}`);
    flags = file[position + 5] ?? 0;
    if (((flags & 2) !== 0) !== (pages === 0)) throw new Error('Only the first page may begin the stream');
    granule = Number(file.readBigInt64LE(position + 6));
    if (file.readUInt32LE(position + 18) !== pages) throw new Error('Page out of sequence');
    const lacing = file.subarray(position + 27, position + 27 + (file[position + 26] ?? 0));
    let end = position + 27 + lacing.length;
    let length = 0;
    for (const value of lacing) {
      length += value;
      if (value === 255) continue;
      packets.push(file.subarray(end, end + length));
      end += length;
      length = 0;
    }
    const page = Buffer.from(file.subarray(position, end));
    page.writeUInt32LE(0, 22);
    if (oggChecksum(page) !== file.readUInt32LE(position + 22)) throw new Error('Wrong page checksum');
    position = end;
    pages++;
  }
  if ((flags & 4) === 0) throw new Error('The last page does not end the stream');
  const [head, tags, ...audio] = packets;
  if (head?.toString('latin1', 0, 8) !== 'OpusHead' || tags?.toString('latin1', 0, 8) !== 'OpusTags') {
    throw new Error('Not Opus');
  }
  const preSkip = head.readUInt16LE(10);
  const decoder = await createDecoder({ channels: 1, sampleRate: 48000 });
  const decoded = audio.flatMap((packet) => [...decoder.decodeFloat(packet)]);
  decoder.free();
  if (decoded.length < granule || decoded.length - granule >= 960)
    throw new Error('The last granule is not in the last packet');
  const samples = Float32Array.from(decoded.slice(preSkip, granule));
  return {
    sampleRate: head.readUInt32LE(12),
    channels: head[9] ?? 0,
    seconds: samples.length / 48000,
    samples,
  };
}

/** Decodes a FLAC file with verbatim subframes and validates every frame. */
export function inspectFlac(file: Buffer): InspectedAudio {
  if (file.toString('latin1', 0, 4) !== 'fLaC') throw new Error('Not FLAC');
  const info = file.readBigUInt64BE(18);
  const sampleRate = Number(info >> 44n);
  const channels = Number((info >> 41n) & 7n) + 1;
  const total = Number(info & 0xfffffffffn);
  const samples = new Float32Array(total);
  let [position, decoded, frame] = [42, 0, 0];
  while (position < file.length) {
    if (file.readUInt16BE(position) !== 0xfff8) throw new Error(`No FLAC frame at ${position}`);
    const numberLength = frame < 0x80 ? 1 : 2;
    const headerLength = 4 + numberLength + 2;
    if (crc8(file.subarray(position, position + headerLength)) !== file[position + headerLength]) {
      throw new Error('Wrong frame header checksum');
    }
    const length = file.readUInt16BE(position + headerLength - 2) + 1;
    const body = position + headerLength + 1;
    const end = body + channels * (1 + length * 2);
    if (crc16(file.subarray(position, end)) !== file.readUInt16BE(end))
      throw new Error('Wrong frame checksum');
    for (let index = 0; index < length; index++)
      samples[decoded++] = file.readInt16BE(body + 1 + index * 2) / 32768;
    position = end + 2;
    frame++;
  }
  if (decoded !== total) throw new Error('Wrong total of samples');
  return { sampleRate, channels, seconds: total / sampleRate, samples };
}

/** Returns the root mean square of samples in -1…1. */
export function level(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Returns the median fundamental frequency of the voiced parts in Hz, by autocorrelation between 60 and 400 Hz. */
export function fundamental({ samples, sampleRate }: InspectedAudio): number {
  const step = Math.round(sampleRate / 8000);
  const rate = sampleRate / step;
  const signal = samples.filter((_, index) => index % step === 0);
  const window = Math.round(rate * 0.04);
  const longest = Math.floor(rate / 60);
  const found: number[] = [];
  for (let start = 0; start + window + longest < signal.length; start += 2 * window) {
    if (level(signal.subarray(start, start + window)) < 0.02) continue;
    let [best, lag] = [0.5, 0];
    for (let candidate = Math.floor(rate / 400); candidate < longest; candidate++) {
      let [product, power, shiftedPower] = [0, 1e-9, 1e-9];
      for (let index = start; index < start + window; index++) {
        const [sample = 0, shifted = 0] = [signal[index], signal[index + candidate]];
        product += sample * shifted;
        power += sample * sample;
        shiftedPower += shifted * shifted;
      }
      const likeness = product / Math.sqrt(power * shiftedPower);
      if (likeness > best + 0.03) [best, lag] = [likeness, candidate];
    }
    if (lag > 0) found.push(rate / lag);
  }
  found.sort((first, second) => first - second);
  return found[Math.floor(found.length / 2)] ?? 0;
}

/** Returns the zero crossings per second, an approximation of brightness. */
export function brightness({ samples, seconds }: InspectedAudio): number {
  let crossings = 0;
  for (let index = 1; index < samples.length; index++) {
    if ((samples[index] ?? 0) >= 0 !== (samples[index - 1] ?? 0) >= 0) crossings++;
  }
  return crossings / seconds;
}
