import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Hashes a text, and the files below some paths of `root`. Paths that do not exist count as empty. */
export async function hashInputs(root: string, text: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(text);
  for (const path of paths) {
    for (const file of await filesBelow(join(root, path)))
      hash.update(file.slice(root.length)).update(await readFile(file));
  }
  return hash.digest('hex');
}

/** Sorted paths of a file or of the files in a folder, except installed packages and test files. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => (error.code === 'ENOTDIR' ? undefined : []),
  );
  if (entries === undefined) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !file.includes(`${sep}node_modules${sep}`) && !file.includes(`${sep}dist${sep}`))
    .sort();
}

/** Returns a text file. Undefined if it does not exist. */
export const readText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(() => undefined);
