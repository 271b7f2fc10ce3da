import { existsSync, readFileSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const modules = new URL('../../node_modules/', import.meta.url);

/**
 * Makes one file of Kysely's three hundred, once for each version, and gives its address, for `one-file.ts`. Each thread
 * that writes to a database loads Kysely anew, which takes seven times as long from all of its files.
 */
export async function makeKyselyFile(): Promise<string> {
  const manifest = readFileSync(new URL('kysely/package.json', modules), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const made = new URL(`.cache/kysely-${version}.js`, modules);
  if (existsSync(made)) return made.href;
  const fresh = `${fileURLToPath(made)}.${process.pid}`;
  await build({
    entryPoints: [fileURLToPath(import.meta.resolve('kysely'))],
    outfile: fresh,
    bundle: true,
    format: 'esm',
    platform: 'node',
    keepNames: true,
  });
  // Two runners may make it at the same time.
  renameSync(fresh, made);
  return made.href;
}
