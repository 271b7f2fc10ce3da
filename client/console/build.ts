import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

const target = fileURLToPath(new URL('../../generated/site/console/', import.meta.url));
const publicFolder = join(import.meta.dirname, 'public');

/**
 * Builds the console into `generated/site/console/`. Writes only files that differ, so that a running gateway can go on
 * serving the others. Returns whether any file differed.
 */
export async function buildConsole(): Promise<boolean> {
  const files = await render();
  const stale = (await filesBelow(target)).filter((name) => !files.has(name));
  const changed: string[] = [];
  for (const [name, content] of files) {
    const path = join(target, name);
    const before = await readFile(path).catch(() => undefined);
    if (before?.equals(content)) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    changed.push(name);
  }
  await Promise.all(stale.map((name) => rm(join(target, name))));
  return changed.length + stale.length > 0;
}

/** Returns the files of the console, name -> content. */
async function render(): Promise<Map<string, Buffer>> {
  const configFile = join(import.meta.dirname, 'vite.config.ts');
  const result = await build({ configFile, logLevel: 'warn', build: { write: false } });
  const { output } = result as Rolldown.RolldownOutput;
  const files = new Map<string, Buffer>();
  for (const name of await filesBelow(publicFolder))
    files.set(name, await readFile(join(publicFolder, name)));
  for (const file of output)
    files.set(file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source));
  return files;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, '/').length));
}
