import { UnigateError } from '../errors.ts';
import type { FileHead } from '../save-file.ts';
import type { Options } from './command-line.ts';
import { deliver } from './deliver.ts';
import { Progress } from './progress.ts';
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
  await deliver(count(audio, progress, head), output, progress, terminal, signal, head);
}

async function* count(
  audio: AsyncIterable<Uint8Array>,
  progress: Progress,
  head: FileHead | undefined,
): AsyncGenerator<Uint8Array, void> {
  progress.show('waiting for the audio …');
  for await (const chunk of audio) {
    if (progress.bytes === 0 && head) yield head();
    progress.received(progress.bytes + chunk.byteLength);
    yield chunk;
  }
  if (progress.bytes === 0) throw new UnigateError('The gateway sent no audio.');
}
