import { existsSync, readFileSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const modules = new URL('../../node_modules/', import.meta.url);

/**
 * Bundles Kysely's three hundred files, once per version, and returns the URL of the bundle for `one-file.ts`. Each store
 * thread loads Kysely, which takes seven times as long from separate files.
 */
export async function makeKyselyFile(): Promise<string> {
  const manifest = readFileSync(new URL('kysely/package.json', modules), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const bundle = new URL(`.cache/kysely-${version}.js`, modules);
  if (existsSync(bundle)) return bundle.href;
  const temporary = `${fileURLToPath(bundle)}.${process.pid}`;
  await build({
    entryPoints: [fileURLToPath(import.meta.resolve('kysely'))],
    outfile: temporary,
    bundle: true,
    format: 'esm',
    platform: 'node',
    keepNames: true,
  });
  // Two runners may build it at the same time.
  renameSync(temporary, bundle);
  return bundle.href;
}
