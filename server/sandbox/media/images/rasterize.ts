import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { Rectangle } from '../drawing/yuv-frame.ts';

/** A rasterized image, only valid during the call of `read`. */
interface Raster {
  readonly width: number;
  readonly height: number;
  /** RGBA with premultiplied alpha. */
  readonly pixels: Uint8Array;
  asPng(): Uint8Array;
}

let ready: Promise<void> | undefined;

/** Rasterizes an SVG without fonts at its own size. */
export async function rasterize<Result>(svg: string, read: (raster: Raster) => Result): Promise<Result> {
  ready ??= readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')).then(
    initWasm,
  );
  await ready;
  const drawing = new Resvg(svg, { font: { fontBuffers: [] } });
  try {
    const raster = drawing.render();
    try {
      return read(raster);
    } finally {
      raster.free();
    }
  } finally {
    drawing.free();
  }
}

export function svgElement({ width, height }: { width: number; height: number }, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${body}</svg>`;
}

/** Creates an `<image>`. If the aspect ratios differ, `slice` crops it, `meet` adds margins, `none` distorts it. */
export function imageElement(
  bytes: Uint8Array,
  type: string,
  { x, y, width, height }: Rectangle,
  fit: 'slice' | 'meet' | 'none',
): string {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const ratio = fit === 'none' ? fit : `xMidYMid ${fit}`;
  return `<image x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="${ratio}" href="data:${type};base64,${data}"/>`;
}
