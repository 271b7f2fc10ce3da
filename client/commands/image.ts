import type { components } from '../../generated/http.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { imageTypes, isUrl, readMediaFile } from './media-options.ts';
import { fileTaskSteps, runTask } from './run-task.ts';
import { readPrompt } from './task-options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { readOutput } from './write-output.ts';

type Request = components['schemas']['ImagineRequest'];

/** `unigate image`: writes a grid of four images, or with `--upscale` one of them. */
export async function makeImage(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { imageJobs } = client;
  const { upscale, 'reference-image': references = [] } = invocation.options;
  if (upscale !== undefined && !/^[1-4]$/.test(upscale))
    throw new UsageError('--upscale must be 1, 2, 3 or 4.');
  const readRequest = async (): Promise<Request> => {
    const prompt = await readPrompt(invocation, terminal, signal);
    if (prompt === undefined) throw new UsageError('A prompt is required.');
    const images = await Promise.all(references.map(readReference));
    return { prompt, ...(images.length > 0 && { base64Array: images }) };
  };
  const steps = fileTaskSteps(imageJobs, readRequest);
  const upscaling: typeof steps = {
    ...steps,
    async waitFor(id, callbacks, actions) {
      const grid = await imageJobs.waitFor(id, callbacks);
      const next = await actions.follow(async (followSignal) =>
        imageJobs.idOf(await imageJobs.press(grid, `U${upscale}`, { signal: followSignal })),
      );
      return await steps.waitFor(next, callbacks, actions);
    },
  };
  await runTask(upscale === undefined ? steps : upscaling, invocation, terminal, signal, {
    outputs: [readOutput(invocation.options, terminal)],
    resumableOptions: ['upscale'],
  });
}

async function readReference(path: string): Promise<string> {
  if (isUrl(path)) throw new UsageError('--reference-image must be a file, not a URL.');
  return await readMediaFile('--reference-image', path, imageTypes);
}
