import type { YuvFrame } from '../drawing/yuv-frame.ts';

/** Must match the key frame encoder. */
const frameNumberBits = 5;

const referencePictureSlice = 0x61;
const uncompressedBlock = 30;

/**
 * Encodes a frame that repeats the previous one except for the given macroblocks, which are uncompressed. The result is
 * one H.264 slice with a length prefix, as in MP4. `number` counts from the last key frame, `blocks` are sorted.
 *
 * This is much faster than an encoder, which would process every macroblock of every frame.
 */
export function encodeDeltaFrame(frame: YuvFrame, blocks: readonly number[], number: number): Uint8Array {
  const slice = new BitWriter();
  slice.writeGolomb(0); // first macroblock
  slice.writeGolomb(0); // predicted from earlier frames
  slice.writeGolomb(0); // parameter set (PPS)
  slice.writeBits(number % 2 ** frameNumberBits, frameNumberBits);
  slice.writeBits(0, 3); // no other references, no reordering, no marking
  slice.writeGolomb(0); // quantizer as in the parameter set
  slice.writeGolomb(1); // no deblocking
  let next = 0;
  for (const block of blocks) {
    slice.writeGolomb(block - next);
    slice.writeGolomb(uncompressedBlock);
    slice.align();
    slice.writeBytes(frame.readBlock(block));
    next = block + 1;
  }
  const rest = frame.columns * frame.rows - next;
  if (rest > 0) slice.writeGolomb(rest);
  slice.writeBits(1, 1);
  slice.align();
  return toLengthPrefixed(slice.toBytes());
}

/** Inserts emulation prevention bytes and the length prefix. */
function toLengthPrefixed(payload: Uint8Array): Uint8Array {
  const unit: number[] = [referencePictureSlice];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      unit.push(3);
      zeros = 0;
    }
    unit.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  const framed = Buffer.alloc(4 + unit.length);
  framed.writeUInt32BE(unit.length);
  framed.set(unit, 4);
  return framed;
}

/** Writes bits, the most significant one first. */
class BitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  writeBits(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit--) {
      this.#current = (this.#current << 1) | ((value >>> bit) & 1);
      if (++this.#filled < 8) continue;
      this.#bytes.push(this.#current);
      this.#current = 0;
      this.#filled = 0;
    }
  }

  /** Writes a number in the exponential-Golomb code of H.264. */
  writeGolomb(value: number): void {
    const length = 32 - Math.clz32(value + 1);
    this.writeBits(0, length - 1);
    this.writeBits(value + 1, length);
  }

  /** Pads the current byte with zeros. */
  align(): void {
    if (this.#filled > 0) this.writeBits(0, 8 - this.#filled);
  }

  /** Writes whole bytes. The writer must be aligned. */
  writeBytes(values: Uint8Array): void {
    for (const value of values) this.#bytes.push(value);
  }

  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}
