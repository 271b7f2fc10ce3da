import type { YuvPicture } from '../drawing/yuv-picture.ts';

/** As the key frame encoder sets it. */
const frameNumberBits = 5;

const referencePictureSlice = 0x61;
const uncompressedBlock = 30;

/**
 * A frame that repeats the one before it but for the given macroblocks, which are written without compression: one
 * H.264 slice behind its length, as MP4 keeps it. `number` counts from the last key frame, `blocks` are in order.
 *
 * It is cheap to make; an encoder would look at every macroblock of every frame.
 */
export function deltaFrame(picture: YuvPicture, blocks: readonly number[], number: number): Uint8Array {
  const slice = new BitWriter();
  slice.golomb(0); // first macroblock
  slice.golomb(0); // predicted from earlier frames
  slice.golomb(0); // picture parameter set
  slice.bits(number % 2 ** frameNumberBits, frameNumberBits);
  slice.bits(0, 3); // no other references, no reordering, no marking
  slice.golomb(0); // quantizer as in the parameter set
  slice.golomb(1); // no deblocking
  let next = 0;
  for (const block of blocks) {
    slice.golomb(block - next);
    slice.golomb(uncompressedBlock);
    slice.align();
    slice.bytes(picture.readBlock(block));
    next = block + 1;
  }
  const rest = picture.columns * picture.rows - next;
  if (rest > 0) slice.golomb(rest);
  slice.bits(1, 1);
  slice.align();
  return lengthPrefixed(slice.toBytes());
}

/** Breaks up what a decoder would take for the start of another unit, and puts the length in front. */
function lengthPrefixed(payload: Uint8Array): Uint8Array {
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

/** Writes bits, the most significant first. */
class BitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  bits(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit--) {
      this.#current = (this.#current << 1) | ((value >>> bit) & 1);
      if (++this.#filled < 8) continue;
      this.#bytes.push(this.#current);
      this.#current = 0;
      this.#filled = 0;
    }
  }

  /** A number in the exponential Golomb code of H.264. */
  golomb(value: number): void {
    const length = 32 - Math.clz32(value + 1);
    this.bits(0, length - 1);
    this.bits(value + 1, length);
  }

  /** Fills the byte up with zeros. */
  align(): void {
    if (this.#filled > 0) this.bits(0, 8 - this.#filled);
  }

  /** Whole bytes; the writer must be aligned. */
  bytes(values: Uint8Array): void {
    for (const value of values) this.#bytes.push(value);
  }

  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}
