import { pipeline } from 'node:stream/promises';
import { UnigateError } from '../errors.ts';
import { type FileHead, saveFile } from '../save-file.ts';
import { UsageError } from './check-options.ts';
import type { Options } from './command-line.ts';
import { Progress } from './progress.ts';
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

/** Writes audio to a file, or for `-` to standard output, as it comes, and counts it on a terminal. */
export async function deliverAudio(
  audio: AsyncIterable<Uint8Array>,
  output: string,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
  head?: FileHead,
): Promise<void> {
  const progress = new Progress(terminal.stderr, options.quiet);
  await deliver(count(audio, progress, head), output, progress, terminal, signal, head);
}

async function* count(
  audio: AsyncIterable<Uint8Array>,
  progress: Progress,
  head: FileHead | undefined,
): AsyncGenerator<Uint8Array, void> {
  progress.wait('waiting for the audio');
  for await (const chunk of audio) {
    if (progress.bytes === 0 && head) yield head();
    progress.received(progress.bytes + chunk.byteLength);
    yield chunk;
  }
  if (progress.bytes === 0) throw new UnigateError('The gateway sent no audio.');
}
