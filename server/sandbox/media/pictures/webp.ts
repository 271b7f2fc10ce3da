import { canonicalCodes, codeLengths, type PrefixCode } from './prefix-code.ts';

/** Writes bits, the least significant first. */
class LowBitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  bits(value: number, count: number): void {
    for (let bit = 0; bit < count; bit++) {
      this.#current |= ((value >> bit) & 1) << this.#filled;
      if (++this.#filled === 8) this.flush();
    }
  }

  flush(): void {
    if (this.#filled > 0) this.#bytes.push(this.#current);
    this.#current = 0;
    this.#filled = 0;
  }

  toBytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

const green = { offset: 1, symbols: 280 };
const red = { offset: 0, symbols: 256 };
const blue = { offset: 2, symbols: 256 };
const alpha = { offset: 3, symbols: 256 };
/** In the order of the format. */
const channels = [green, red, blue, alpha];
/** The order in which the format names the lengths of the code that the lengths are written in. */
const lengthOrder = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/** Sixteen codes of four bits each are one for each length from 0 to 15. */
const lengthCodes = canonicalCodes(Array.from({ length: 16 }, () => 4));

/** Encodes RGBA pixels as a lossless WebP: each channel of each pixel in a prefix code, without prediction. */
export function encodeWebp(rgba: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const writer = new LowBitWriter();
  writer.bits(0x2f, 8);
  writer.bits(width - 1, 14);
  writer.bits(height - 1, 14);
  writer.bits(1, 1); // alpha may be used
  writer.bits(0, 3); // version
  writer.bits(0, 3); // no transform, no colour cache, one set of codes
  const codes = channels.map(({ offset, symbols }) => writeCode(writer, countSymbols(rgba, offset, symbols)));
  writeCode(writer, [1]); // distances, which do not occur
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (const [index, { offset }] of channels.entries()) {
      const { bits, length } = codes[index]?.[rgba[pixel * 4 + offset] ?? 0] ?? { bits: 0, length: 0 };
      writer.bits(bits, length);
    }
  }
  writer.flush();
  return wrap(writer.toBytes());
}

function countSymbols(rgba: Uint8Array, offset: number, symbols: number): number[] {
  const counts = Array.from({ length: symbols }, () => 0);
  for (let at = offset; at < rgba.length; at += 4) {
    const value = rgba[at] ?? 0;
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

function writeCode(writer: LowBitWriter, counts: readonly number[]): PrefixCode[] {
  const [only, ...others] = counts.flatMap((count, symbol) => (count > 0 ? [symbol] : []));
  if (others.length === 0) {
    writer.bits(1, 1); // simple
    writer.bits(0, 1); // one symbol, which then takes no bits
    writer.bits(1, 1); // of eight bits
    writer.bits(only ?? 0, 8);
    return [];
  }
  const lengths = codeLengths(counts);
  writer.bits(0, 1);
  writer.bits(lengthOrder.length - 4, 4);
  for (const symbol of lengthOrder) writer.bits(symbol < 16 ? 4 : 0, 3);
  writer.bits(0, 1); // lengths for all symbols
  for (const length of lengths) writer.bits(lengthCodes[length]?.bits ?? 0, 4);
  return canonicalCodes(lengths);
}

function wrap(data: Buffer): Uint8Array<ArrayBuffer> {
  const padding = data.length % 2;
  const file = Buffer.alloc(20 + data.length + padding);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WEBPVP8L', 8, 'latin1');
  file.writeUInt32LE(data.length, 16);
  file.set(data, 20);
  return new Uint8Array(file);
}
