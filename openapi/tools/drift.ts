import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

/** Sorted names of the files in `folder` that differ from `expected`, are missing or are unexpected. */
export async function drifted(folder: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  const present = await filesBelow(folder);
  const wrong = present.filter((name) => !expected.has(name));
  for (const [name, text] of expected) {
    const found = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (found !== text) wrong.push(name);
  }
  return wrong.sort();
}

/** Writes the expected files to `folder` and removes all others. Returns the changed names. */
export async function settle(folder: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const changed = await drifted(folder, expected);
  for (const name of changed) {
    const text = expected.get(name);
    if (text === undefined) await rm(join(folder, name));
    else {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  }
  return changed;
}

/** Relative paths of the committed files below a folder, with slashes. `site/` is built and not committed. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
    .filter((name) => !name.startsWith('site/'));
}
