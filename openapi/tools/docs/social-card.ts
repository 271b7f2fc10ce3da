import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

/** Renders the image that other sites show beside a link to the documentation, as PNG of 1200 × 630 pixels. */
export async function socialCard(): Promise<Uint8Array> {
  await initWasm(readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));
  const svg = await readFile(join(import.meta.dirname, 'social-card.svg'), 'utf8');
  return new Resvg(svg, { font: { fontBuffers: [] } }).render().asPng();
}
