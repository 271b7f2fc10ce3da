import { pipeline } from 'node:stream/promises';
import { UnigateError } from '../errors.ts';
import { type FileHeader, saveFile } from '../save-file.ts';
import type { Options } from './command-line.ts';
import { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Returns the output file. Throws UsageError instead of writing binary data to a terminal. */
export function readOutput({ output }: Options, terminal: Terminal): string {
  if (output !== undefined) return output;
  if (terminal.stdout.isTTY) throw new UsageError('-o FILE is required; -o - writes to standard output.');
  return '-';
}

/** Streams bytes to a file, or to standard output for `-`, and then prints the file name. */
export async function writeOutput(
  bytes: AsyncIterable<Uint8Array>,
  output: string,
  progress: Progress,
  terminal: Terminal,
  signal: AbortSignal,
  header?: FileHeader,
): Promise<void> {
  try {
    if (output === '-') await pipeline(bytes, terminal.stdout, { end: false, signal });
    else await saveFile(output, bytes, header);
  } finally {
    progress.clear();
  }
  if (output !== '-') progress.printResult(output);
}

/** Streams audio to a file, or to standard output for `-`, and shows the progress on a terminal. */
export async function writeAudio(
  audio: AsyncIterable<Uint8Array>,
  output: string,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
  header?: FileHeader,
): Promise<void> {
  const progress = new Progress(terminal.stderr, options.quiet);
  await writeOutput(countBytes(audio, progress, header), output, progress, terminal, signal, header);
}

async function* countBytes(
  audio: AsyncIterable<Uint8Array>,
  progress: Progress,
  header: FileHeader | undefined,
): AsyncGenerator<Uint8Array, void> {
  progress.showStatus('waiting for the audio');
  for await (const chunk of audio) {
    if (progress.bytes === 0 && header) yield header();
    progress.showBytes(progress.bytes + chunk.byteLength);
    yield chunk;
  }
  if (progress.bytes === 0) throw new UnigateError('The gateway sent no audio.');
}
