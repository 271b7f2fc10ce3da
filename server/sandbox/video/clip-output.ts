import type { ClipPlan } from '../media/clip/clip-plan.ts';
import { hour, type VideoServices } from './protocol.ts';
import type { Triggers } from './triggers.ts';

/** Where the files of a clip can be downloaded. */
export interface ClipUrls {
  video: string;
  lastFrame: string;
}

const lifetime = 24 * hour;

/** Promises the files of a clip; they are made when they are downloaded. `endedAt` is in milliseconds. */
export function publishClip(
  { engine, results }: VideoServices,
  plan: ClipPlan,
  triggers: Triggers,
  endedAt: number,
): ClipUrls {
  const expiresAt = triggers.has('expired-url') ? 1 : endedAt + lifetime;
  return {
    video: results.add(plan.container, expiresAt, () => engine.run('renderClip', plan)),
    lastFrame: results.add('png', expiresAt, () => engine.run('renderLastFrame', plan)),
  };
}
