import type { YuvFrame } from '../../server/sandbox/media/drawing/yuv-frame.ts';

/** Reads bits, the most significant one first. */
class BitReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get bitsLeft(): number {
    return this.#bytes.length * 8 - this.#position;
  }

  bits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index++, this.#position++)
      value = value * 2 + (((this.#bytes[this.#position >> 3] ?? 0) >> (7 - (this.#position & 7))) & 1);
    return value;
  }

  golomb(): number {
    let zeros = 0;
    while (this.bits(1) === 0) if (++zeros > 32) throw new Error('No number is that long');
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  take(count: number): Uint8Array {
    this.#position = Math.ceil(this.#position / 8) * 8;
    const start = this.#position / 8;
    this.#position += count * 8;
    return this.#bytes.subarray(start, start + count);
  }

  /** Returns true if only the stop bit and zeros follow. */
  atEnd(): boolean {
    const { bitsLeft } = this;
    const start = this.#position;
    const end = bitsLeft <= 8 && this.bits(bitsLeft) === 2 ** (bitsLeft - 1);
    this.#position = start;
    return end;
  }
}

/**
 * A minimal decoder for H.264 slices whose macroblocks are skipped or uncompressed. Applies the packet to the frame and
 * returns the number of macroblocks. Throws if the packet has another format.
 */
export function applyDelta(frame: YuvFrame, packet: Uint8Array): number {
  const view = Buffer.from(packet.buffer, packet.byteOffset, packet.length);
  if (view.readUInt32BE(0) !== packet.length - 4) throw new Error('The packet is not one unit');
  if (((packet[4] ?? 0) & 31) !== 1) throw new Error('The unit is not a slice');
  const reader = new BitReader(withoutEmulation(packet.subarray(5)));
  const head = [reader.golomb(), reader.golomb() % 5, reader.golomb()];
  if (head.some((value) => value !== 0)) throw new Error(`The slice starts with ${head.join()}`);
  reader.bits(5); // frame number
  if (reader.bits(3) !== 0 || reader.golomb() !== 0 || reader.golomb() !== 1)
    throw new Error('Unknown options');

  const blocks = frame.columns * frame.rows;
  let block = 0;
  let count = 0;
  while (block < blocks) {
    block += reader.golomb();
    if (block === blocks) break;
    if (reader.golomb() !== 30) throw new Error('The macroblock is compressed');
    putBlock(frame, block++, reader.take(384));
    count++;
  }
  if (block !== blocks || !reader.atEnd()) throw new Error(`The slice ends at ${block} of ${blocks}`);
  return count;
}

function withoutEmulation(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes).filter(
    (byte, index) => !(byte === 3 && index >= 2 && bytes[index - 1] === 0 && bytes[index - 2] === 0),
  );
}

function putBlock({ y, u, v, stride, columns }: YuvFrame, block: number, samples: Uint8Array): void {
  const [column, row] = [block % columns, Math.floor(block / columns)];
  for (const [plane, side, width, from] of [
    [y, 16, stride, 0],
    [u, 8, stride / 2, 256],
    [v, 8, stride / 2, 320],
  ] as const) {
    for (let line = 0; line < side; line++) {
      const start = from + line * side;
      plane.set(samples.subarray(start, start + side), (row * side + line) * width + column * side);
    }
  }
}
