import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { takeResult } from './take-result.ts';
import { readPrompt } from './task-options.ts';
import type { Terminal } from './terminal.ts';
import { readVideoRequest } from './video-request.ts';

/** `unigate video`: writes the video of a prompt to a file or to standard output. */
export async function makeVideo(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = 'gamma3.0-video-prime' } = invocation.options;
  const readRequest = async () =>
    readVideoRequest(await readPrompt(invocation, terminal, signal), model, invocation.options);
  await takeResult(client.videos, readRequest, invocation, terminal, signal);
}
