import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import encode, { init } from '@jsquash/webp/encode.js';
import { PNG } from 'pngjs';

/** RGBA pixels, row by row. */
interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

export function encodePng({ width, height, data }: Pixels): Uint8Array<ArrayBuffer> {
  const png = new PNG({ width, height });
  png.data.set(data);
  return new Uint8Array(PNG.sync.write(png));
}

let codec: Promise<unknown> | undefined;

export async function encodeWebp({ width, height, data }: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  // By default, the package fetches its codec by URL, which only works in browsers.
  codec ??= readFile(
    createRequire(import.meta.url).resolve('@jsquash/webp/codec/enc/webp_enc_simd.wasm'),
  ).then((wasmBinary) => init({ wasmBinary }));
  await codec;
  const image = { width, height, data: new Uint8ClampedArray(data), colorSpace: 'srgb' as const };
  return new Uint8Array(await encode(image));
}
