import { parentPort } from 'node:worker_threads';
import { renderClip, renderLastFrame } from './clip/render-clip.ts';
import type { Command, JobName, Jobs, Reply } from './jobs.ts';
import { renderModel } from './model3d/render-model.ts';
import { renderModelPreview } from './model3d/render-preview.ts';
import { readThumbnail } from './pictures/thumbnail.ts';
import { readFacts } from './read-facts.ts';
import { isTrap } from './trap.ts';

/** The thread that makes and reads media, one job after the other. */

const handlers: {
  [Name in JobName]: (input: Jobs[Name]['input']) => Jobs[Name]['output'] | Promise<Jobs[Name]['output']>;
} = { renderClip, renderLastFrame, renderModel, renderModelPreview, readFacts, readThumbnail };

async function work({ name, input }: Command): Promise<Reply> {
  try {
    return { output: await (handlers[name] as (input: Command['input']) => unknown)(input) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: `${name}: ${message}`, broken: isTrap(error) };
  }
}

parentPort?.on('message', (command: Command) => {
  void work(command).then((reply) => parentPort?.postMessage(reply));
});
