import { UnigateError } from './errors.ts';
import { newId } from './sockets/new-id.ts';

/** What a file begins with, when its length without it is known, and before. */
export type FileHead = (bytes?: number) => Uint8Array;

/**
 * Writes chunks to a file that appears only when it is whole: into `<file>.<by chance>.part` first, which is removed
 * when the chunks end in an error. The place is opened before the first chunk is asked for, so that nothing is paid for
 * and then lost. What is not a plain file, such as a pipe or a device, is written to as it is. Where the chunks begin
 * with a `head`, a plain file gets it anew with the length. Throws UnigateError in a browser, which has no files.
 */
export async function saveFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  head?: FileHead,
): Promise<void> {
  const { realpath, rename, rm, stat } = nodeFiles();
  const target = await realpath(path).catch(() => path);
  const present = await stat(target).catch(() => undefined);
  if (present?.isDirectory()) throw new Error(`${path} is a folder.`);
  if (present && !present.isFile()) return write(target, chunks);

  const part = `${target}.${newId().slice(0, 8)}.part`;
  try {
    await write(part, chunks, head);
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function write(path: string, chunks: AsyncIterable<Uint8Array>, head?: FileHead): Promise<void> {
  const file = await nodeFiles().open(path, 'w');
  try {
    await file.writeFile(chunks);
    if (head) {
      const { size } = await file.stat();
      const known = head(size - head().byteLength);
      await file.write(known, 0, known.byteLength, 0);
    }
  } finally {
    await file.close();
  }
}

/** Not an import, over which a bundler for browsers would stop. */
function nodeFiles(): typeof import('node:fs/promises') {
  const files = globalThis.process?.getBuiltinModule?.('node:fs/promises');
  if (files) return files;
  throw new UnigateError('downloadTo: only Node can write a file; elsewhere take download or receive.');
}
