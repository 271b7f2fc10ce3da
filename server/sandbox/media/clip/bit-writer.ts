/** Writes bits, the most significant first. */
export class BitWriter {
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
