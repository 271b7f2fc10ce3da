import { UnigateError } from './errors.ts';
import { newId } from './sockets/new-id.ts';

/** Creates the header of a file. `bytes` is the length of the content after it, if known. */
export type FileHeader = (bytes?: number) => Uint8Array;

/**
 * Writes chunks to a file that appears only when it is complete. Writes to `<file>.<random>.part` first, and removes it on an
 * error. Opens the file before it requests the first chunk, so that no charged result is lost. Writes directly to pipes and
 * devices. If the chunks start with a `header`, rewrites it in a regular file with the final length. Throws UnigateError in
 * browsers.
 */
export async function saveFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  header?: FileHeader,
): Promise<void> {
  const { realpath, rename, rm, stat } = nodeFiles();
  const target = await realpath(path).catch(() => path);
  const present = await stat(target).catch(() => undefined);
  if (present?.isDirectory()) throw new Error(`${path} is a directory.`);
  if (present && !present.isFile()) return write(target, chunks);

  const partFile = `${target}.${newId().slice(0, 8)}.part`;
  try {
    await write(partFile, chunks, header);
    await rename(partFile, target);
  } catch (error) {
    await rm(partFile, { force: true });
    throw error;
  }
}

async function write(path: string, chunks: AsyncIterable<Uint8Array>, header?: FileHeader): Promise<void> {
  const file = await nodeFiles().open(path, 'w');
  try {
    await file.writeFile(chunks);
    if (header) {
      const { size } = await file.stat();
      const final = header(size - header().byteLength);
      await file.write(final, 0, final.byteLength, 0);
    }
  } finally {
    await file.close();
  }
}

/** Avoids an import, which bundlers for browsers reject. */
function nodeFiles(): typeof import('node:fs/promises') {
  const files = globalThis.process?.getBuiltinModule?.('node:fs/promises');
  if (files) return files;
  throw new UnigateError('downloadTo requires Node; use download or receive elsewhere.');
}
