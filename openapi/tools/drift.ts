import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of the files in `folder` that differ from `expected`, are missing, or should not be there; sorted. */
export async function drifted(folder: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  const present = await readdir(folder).catch(() => [] as string[]);
  const wrong = present.filter((name) => !expected.has(name));
  for (const [name, text] of expected) {
    const found = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (found !== text) wrong.push(name);
  }
  return wrong.sort();
}

/** Makes `folder` hold exactly the expected files; returns the names that changed. */
export async function settle(folder: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const changed = await drifted(folder, expected);
  for (const name of changed) {
    const text = expected.get(name);
    if (text === undefined) await rm(join(folder, name));
    else await writeFile(join(folder, name), text);
  }
  return changed;
}
