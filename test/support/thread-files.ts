import { renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const originals = ['writer', 'reader'].map(
  (name) => new URL(`../../server/store/sqlite/${name}.ts`, import.meta.url),
);
const folder = new URL('../../node_modules/.cache/threads/', import.meta.url);

/**
 * Makes one file of all that a thread of the store loads, for each kind of them: it starts in half the time, and hundreds are
 * started. Gives the addresses of these files by those of the originals, for `one-file.ts`. What is changed
 * later is not in them.
 */
export async function makeThreadFiles(): Promise<Record<string, string>> {
  const extension = `.${process.pid}.js`;
  await build({
    entryPoints: originals.map((url) => fileURLToPath(url)),
    outdir: fileURLToPath(folder),
    outExtension: { '.js': extension },
    bundle: true,
    format: 'esm',
    platform: 'node',
    keepNames: true,
  });
  const made = originals.map((original) => {
    const name = original.pathname.replace(/.*\/(\w+)\.ts$/, '$1');
    const file = new URL(`${name}.js`, folder);
    // Whoever starts a thread meanwhile finds the one or the other.
    renameSync(new URL(`${name}${extension}`, folder), file);
    return [original.href, file.href] as const;
  });
  return Object.fromEntries(made);
}
