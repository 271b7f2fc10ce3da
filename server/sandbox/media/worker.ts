import { parentPort } from 'node:worker_threads';
import type { Command, JobName, Jobs, Reply } from './jobs.ts';
import { isTrap } from './jobs.ts';

/** Worker thread that renders and reads media, one job at a time. */

type Handler<Name extends JobName> = (
  input: Jobs[Name]['input'],
) => Jobs[Name]['output'] | Promise<Jobs[Name]['output']>;

/** Loaded on demand, so that reading a file does not wait for the video encoder to load. */
const handlers: { [Name in JobName]: () => Promise<Handler<Name>> } = {
  renderClip: async () => (await import('./clip/render-clip.ts')).renderClip,
  renderLastFrame: async () => (await import('./clip/render-clip.ts')).renderLastFrame,
  renderModel: async () => (await import('./model3d/render-model.ts')).renderModel,
  renderModelPreview: async () => (await import('./model3d/render-preview.ts')).renderModelPreview,
  renderImages: async () => (await import('./scenes/render-images.ts')).renderImages,
  renderSong: async () => (await import('./music/render-song.ts')).renderSong,
  renderStems: async () => (await import('./music/render-song.ts')).renderStems,
  renderSongWav: async () => (await import('./music/render-song.ts')).renderSongWav,
  readMask: async () => (await import('./scenes/mask.ts')).readMask,
  readFacts: async () => (await import('./read-facts.ts')).readFacts,
  readThumbnail: async () => (await import('./images/thumbnail.ts')).readThumbnail,
};

async function runJob({ name, input }: Command): Promise<Reply> {
  try {
    const handle = (await handlers[name]()) as (input: Command['input']) => unknown;
    return { output: await handle(input) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: `${name}: ${message}`, broken: isTrap(error) };
  }
}

parentPort?.on('message', (command: Command) => {
  void runJob(command).then((reply) => parentPort?.postMessage(reply));
});
