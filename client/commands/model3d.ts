import type { Model3dRequest } from '../native-tasks.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readUrl } from './media-options.ts';
import { fileTaskSteps, runTask } from './run-task.ts';
import { readParameters, readPrompt } from './task-options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate model3d`: writes the GLB of a prompt or an image to a file or to standard output. */
export async function makeModel3d(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = 'theta-3d' } = invocation.options;
  const readRequest = async (): Promise<Model3dRequest> => {
    const input = await readInput(invocation, terminal, signal);
    return { model, input, parameters: readParameters(invocation.options) };
  };
  await runTask(fileTaskSteps(client.models3d, readRequest), invocation, terminal, signal);
}

async function readInput(
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Model3dRequest['input']> {
  const prompt = await readPrompt(invocation, terminal, signal);
  const image = readUrl('--image', invocation.options.image);
  if (prompt !== undefined && image === undefined) return { prompt };
  if (prompt === undefined && image !== undefined) return { image };
  throw new UsageError('Either a prompt or --image is required.');
}
