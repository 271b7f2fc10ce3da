import type { components } from '../../generated/http.ts';
import type { Unigate } from '../unigate.ts';
import { UsageError } from './check-options.ts';
import type { Invocation } from './command-line.ts';
import { readOutput } from './deliver.ts';
import { imageTypes, isAddress, readMediaFile } from './media-options.ts';
import { makingOf, takeResult } from './take-result.ts';
import { readPrompt } from './task-options.ts';
import type { Terminal } from './terminal.ts';

type Request = components['schemas']['ImagineRequest'];

/** `unigate image`: writes a grid of four pictures, or with `--upscale` one of them. */
export async function makeImage(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { imageJobs } = client;
  const { upscale, 'reference-image': references = [] } = invocation.options;
  if (upscale !== undefined && !/^[1-4]$/.test(upscale)) throw new UsageError('--upscale: 1, 2, 3 or 4.');
  const readRequest = async (): Promise<Request> => {
    const prompt = await readPrompt(invocation, terminal, signal);
    if (prompt === undefined) throw new UsageError('Give a prompt.');
    const pictures = await Promise.all(references.map(readReference));
    return { prompt, ...(pictures.length > 0 && { base64Array: pictures }) };
  };
  const making = makingOf(imageJobs, readRequest);
  const upscaling: typeof making = {
    ...making,
    async waitFor(id, watching, more) {
      const grid = await imageJobs.waitFor(id, watching);
      const next = await more.follow(async (late) =>
        imageJobs.idOf(await imageJobs.press(grid, `U${upscale}`, { signal: late })),
      );
      return await making.waitFor(next, watching, more);
    },
  };
  await takeResult(upscale === undefined ? making : upscaling, invocation, terminal, signal, {
    outputs: [readOutput(invocation.options, terminal)],
    lasting: ['upscale'],
  });
}

async function readReference(path: string): Promise<string> {
  if (isAddress(path)) throw new UsageError('--reference-image: a file; an address is not taken here.');
  return await readMediaFile('--reference-image', path, imageTypes);
}
