import { pipeline } from 'node:stream/promises';
import { type FileHead, saveFile } from '../save-file.ts';
import { type Options, UsageError } from './command-line.ts';
import type { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** Where the bytes of a command go. Throws UsageError rather than write them on a terminal. */
export function readOutput({ output }: Options, terminal: Terminal): string {
  if (output !== undefined) return output;
  if (terminal.stdout.isTTY) throw new UsageError('Give -o FILE, or -o - for standard output.');
  return '-';
}

/** Writes bytes to a file, or for `-` to standard output, as they come, and then says where they are. */
export async function deliver(
  bytes: AsyncIterable<Uint8Array>,
  output: string,
  progress: Progress,
  terminal: Terminal,
  signal: AbortSignal,
  head?: FileHead,
): Promise<void> {
  try {
    if (output === '-') await pipeline(bytes, terminal.stdout, { end: false, signal });
    else await saveFile(output, bytes, head);
  } finally {
    progress.clear();
  }
  if (output !== '-') progress.report(output);
}
