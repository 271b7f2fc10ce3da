import { pipeline } from 'node:stream/promises';
import { UnigateError } from '../errors.ts';
import type { Options } from './command-line.ts';
import { Progress } from './progress.ts';
import { type FileHead, saveFile } from './save-file.ts';
import type { Terminal } from './terminal.ts';

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
  try {
    const chunks = count(audio, progress, head);
    if (output === '-') await pipeline(chunks, terminal.stdout, { end: false, signal });
    else await saveFile(output, chunks, head);
  } finally {
    progress.clear();
  }
  if (output !== '-') progress.report(output);
}

async function* count(
  audio: AsyncIterable<Uint8Array>,
  progress: Progress,
  head: FileHead | undefined,
): AsyncGenerator<Uint8Array, void> {
  progress.start();
  for await (const chunk of audio) {
    if (progress.bytes === 0 && head) yield head();
    progress.add(chunk.byteLength);
    yield chunk;
  }
  if (progress.bytes === 0) throw new UnigateError('The gateway sent no audio.');
}
