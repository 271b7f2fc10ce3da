import { toRgb, toYuv } from './colors.ts';

/** Side of a macroblock, the coding unit of a video frame. */
export const blockSide = 16;

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A video frame in YUV 4:2:0, its planes padded to whole macroblocks. */
export class YuvFrame {
  readonly width: number;
  readonly height: number;
  /** Number of macroblocks in each direction. */
  readonly columns: number;
  readonly rows: number;
  /** Samples per row of the luma plane. A chroma plane has half as many. */
  readonly stride: number;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.columns = Math.ceil(width / blockSide);
    this.rows = Math.ceil(height / blockSide);
    this.stride = this.columns * blockSide;
    const samples = this.stride * this.rows * blockSide;
    this.y = new Uint8Array(samples).fill(16);
    this.u = new Uint8Array(samples / 4).fill(128);
    this.v = new Uint8Array(samples / 4).fill(128);
  }

  /** Converts opaque RGBA pixels of the same size. */
  static fromRgba(rgba: Uint8Array, width: number, height: number): YuvFrame {
    const frame = new YuvFrame(width, height);
    const { stride } = frame;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = (y * width + x) * 4;
        const [luma, u, v] = toYuv(rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0);
        frame.y[y * stride + x] = luma;
        if (((x | y) & 1) === 0) {
          const chroma = (y >> 1) * (stride >> 1) + (x >> 1);
          frame.u[chroma] = u;
          frame.v[chroma] = v;
        }
      }
    }
    return frame;
  }

  /** Returns the visible part as I420: luma, then the two chroma planes. */
  toI420(): Uint8Array {
    const { width, height, stride } = this;
    const half = width >> 1;
    const out = new Uint8Array((width * height * 3) / 2);
    let at = 0;
    for (let row = 0; row < height; row++, at += width)
      out.set(this.y.subarray(row * stride, row * stride + width), at);
    for (const plane of [this.u, this.v]) {
      for (let row = 0; row < height >> 1; row++, at += half)
        out.set(plane.subarray((row * stride) >> 1, ((row * stride) >> 1) + half), at);
    }
    return out;
  }

  /** Returns the visible part as opaque RGBA pixels. */
  toRgba(): Uint8Array {
    const { width, height, stride } = this;
    const rgba = new Uint8Array(width * height * 4);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at += 4) {
        const chroma = (y >> 1) * (stride >> 1) + (x >> 1);
        rgba.set(toRgb(this.y[y * stride + x] ?? 16, this.u[chroma] ?? 128, this.v[chroma] ?? 128), at);
        rgba[at + 3] = 255;
      }
    }
    return rgba;
  }

  /** Copies one macroblock from a frame of the same size. */
  copyBlock(from: YuvFrame, block: number): void {
    for (const [target, source, side, offset, stride] of [
      [this.y, from.y, blockSide, this.#blockOffset(block, blockSide), this.stride],
      [this.u, from.u, blockSide / 2, this.#blockOffset(block, blockSide / 2), this.stride / 2],
      [this.v, from.v, blockSide / 2, this.#blockOffset(block, blockSide / 2), this.stride / 2],
    ] as const) {
      for (let row = 0, at = offset; row < side; row++, at += stride)
        target.set(source.subarray(at, at + side), at);
    }
  }

  /** Returns the samples of one macroblock in coding order: 256 of luma, 64 and 64 of chroma. */
  readBlock(block: number): Uint8Array {
    const samples = new Uint8Array(384);
    let into = 0;
    for (const [plane, side, stride] of [
      [this.y, blockSide, this.stride],
      [this.u, blockSide / 2, this.stride / 2],
      [this.v, blockSide / 2, this.stride / 2],
    ] as const) {
      let at = this.#blockOffset(block, side);
      for (let row = 0; row < side; row++, at += stride, into += side)
        samples.set(plane.subarray(at, at + side), into);
    }
    return samples;
  }

  /** Fills the visible part of a rectangle. Chroma has a resolution of two pixels. */
  fill({ x, y, width, height }: Rectangle, [luma, u, v]: readonly [number, number, number]): void {
    const right = Math.min(this.width, x + width);
    const bottom = Math.min(this.height, y + height);
    for (let row = Math.max(0, y); row < bottom; row++) {
      if (right > x) this.y.fill(luma, row * this.stride + Math.max(0, x), row * this.stride + right);
      if (row & 1 || right <= x) continue;
      const start = (row >> 1) * (this.stride >> 1);
      this.u.fill(u, start + (Math.max(0, x) >> 1), start + ((right + 1) >> 1));
      this.v.fill(v, start + (Math.max(0, x) >> 1), start + ((right + 1) >> 1));
    }
  }

  /** Yields the macroblocks that a rectangle overlaps. */
  *blocksIn({ x, y, width, height }: Rectangle): Generator<number> {
    const right = Math.min(this.columns - 1, Math.floor((x + width - 1) / blockSide));
    const bottom = Math.min(this.rows - 1, Math.floor((y + height - 1) / blockSide));
    for (let row = Math.max(0, Math.floor(y / blockSide)); row <= bottom; row++) {
      for (let column = Math.max(0, Math.floor(x / blockSide)); column <= right; column++)
        yield row * this.columns + column;
    }
  }

  #blockOffset(block: number, side: number): number {
    const row = Math.floor(block / this.columns);
    return row * side * this.columns * side + (block % this.columns) * side;
  }
}
