import { Application, createEncoder, type SampleRate } from 'libopus-wasm';
import type { AudioSettings } from '../commands.ts';
import type { AudioEncoder } from './encoder.ts';

const codecRates: readonly SampleRate[] = [8000, 12000, 16000, 24000, 48000];
const framesPerSecond = 50;
/** Ogg Opus counts positions at 48 kHz regardless of the sample rate of the codec. */
const granulesPerFrame = 48000 / framesPerSecond;

/** Creates an encoder for Opus in an Ogg container (RFC 7845), mono, with 20 ms packets. */
export async function createOpusEncoder({
  sampleRate,
  bitRate = 32_000,
}: AudioSettings): Promise<AudioEncoder> {
  const inputRate = codecRates.find((rate) => rate >= sampleRate) ?? 48000;
  const frameSize = inputRate / framesPerSecond;
  const codec = await createEncoder({
    channels: 1,
    sampleRate: inputRate,
    frameSize,
    application: Application.Audio,
    bitrate: bitRate,
    // Takes half the time of the default, without audible loss for synthetic speech.
    complexity: 5,
  });
  const preSkip = (codec.getLookahead() * 48000) / inputRate;
  const serial = 1;
  let sequence = 0;
  let frames = 0;
  let samplesIn = 0;
  let rest = new Float32Array();
  // The newest packet is held back, because the last page must be marked and must not be empty.
  let waiting: Uint8Array[] = [];

  function headers(): Buffer[] {
    const head = Buffer.alloc(19);
    head.write('OpusHead', 0, 'latin1');
    head[8] = 1;
    head[9] = 1;
    head.writeUInt16LE(preSkip, 10);
    head.writeUInt32LE(sampleRate, 12);
    const vendor = Buffer.from('unigate sandbox');
    const tags = Buffer.alloc(16 + vendor.length);
    tags.write('OpusTags', 0, 'latin1');
    tags.writeUInt32LE(vendor.length, 8);
    tags.set(vendor, 12);
    sequence = 2;
    return [
      oggPage({ packets: [head], granule: 0, serial, sequence: 0, first: true }),
      oggPage({ packets: [tags], granule: 0, serial, sequence: 1 }),
    ];
  }

  function encodeFrames(samples: Float32Array): void {
    const input = new Float32Array(rest.length + samples.length);
    input.set(rest);
    input.set(samples, rest.length);
    const whole = Math.floor(input.length / frameSize);
    for (let frame = 0; frame < whole; frame++) {
      waiting.push(codec.encodeFloat(input.subarray(frame * frameSize, (frame + 1) * frameSize)));
    }
    rest = input.slice(whole * frameSize);
  }

  function pages(minWaiting: number, lastGranule?: number): Buffer[] {
    const written: Buffer[] = [];
    while (waiting.length > minWaiting) {
      const packets = waiting.slice(0, Math.min(packetsPerPage, waiting.length - minWaiting));
      waiting = waiting.slice(packets.length);
      frames += packets.length;
      const last = lastGranule !== undefined && waiting.length === 0;
      const granule = last ? lastGranule : frames * granulesPerFrame;
      written.push(oggPage({ packets, granule, serial, sequence: sequence++, last }));
    }
    return written;
  }

  return {
    inputRate,
    encode(samples) {
      const start = sequence === 0 ? headers() : [];
      samplesIn += samples.length;
      encodeFrames(samples);
      return Buffer.concat([...start, ...pages(1)]);
    },
    finish() {
      const start = sequence === 0 ? headers() : [];
      const lastGranule = preSkip + Math.round((samplesIn * 48000) / inputRate);
      const missing = Math.ceil(lastGranule / granulesPerFrame) - frames - waiting.length;
      encodeFrames(new Float32Array(missing * frameSize - rest.length));
      return Buffer.concat([...start, ...pages(0, lastGranule)]);
    },
    release: () => codec.free(),
  };
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = (byte << 24) >>> 0;
  for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ (value & 0x80000000 ? 0x04c11db7 : 0)) >>> 0;
  return value;
});

/** Computes the checksum of an Ogg page whose checksum field is zero. */
export function oggChecksum(page: Uint8Array): number {
  let value = 0;
  for (const byte of page) value = ((value << 8) ^ (crcTable[(value >>> 24) ^ byte] ?? 0)) >>> 0;
  return value;
}

interface OggPage {
  packets: readonly Uint8Array[];
  /** Position of the end of the last packet of the page, in samples. */
  granule: number;
  serial: number;
  sequence: number;
  first?: boolean;
  last?: boolean;
}

/** Number of packets that always fit in a page: a page has 255 lacing values, and a 20 ms packet needs at most 6. */
const packetsPerPage = 42;

/** Creates a page of whole packets. Throws if they need more than 255 lacing values. */
function oggPage({ packets, granule, serial, sequence, first, last }: OggPage): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...Array(Math.floor(length / 255)).fill(255),
    length % 255,
  ]);
  if (lacing.length > 255) throw new RangeError('The packets do not fit one Ogg page');
  const header = Buffer.alloc(27 + lacing.length);
  header.write('OggS', 0, 'latin1');
  header[5] = (first ? 2 : 0) | (last ? 4 : 0);
  header.writeBigUInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = lacing.length;
  header.set(lacing, 27);
  const page = Buffer.concat([header, ...packets]);
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}
