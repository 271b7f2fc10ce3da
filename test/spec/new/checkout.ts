import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** Creates a writable copy of the checkout that shares its installed packages. */
export async function copyOfCheckout(): Promise<{ root: string; remove: () => Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'checkout-'));
  const moduleFolders: string[] = [];
  for (const name of await readdir(repository)) {
    if (name.startsWith('.')) continue;
    await cp(join(repository, name), join(root, name), {
      recursive: true,
      filter(source) {
        if (!source.endsWith('/node_modules')) return true;
        moduleFolders.push(relative(repository, source));
        return false;
      },
    });
  }
  for (const folder of moduleFolders) await symlink(join(repository, folder), join(root, folder));
  return { root, remove: () => rm(root, { recursive: true }) };
}
