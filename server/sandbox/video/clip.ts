import type { ClipPlan, FrameSize, Reference } from '../media/clip/clip-plan.ts';
import { hourMs } from '../tasks/protocol.ts';
import type { CreateOutput } from '../tasks/task-board.ts';
import type { Triggers } from '../triggers.ts';
import type { SeenMedia } from './media-loader.ts';
import type { VideoServices } from './video-services.ts';

const lifetime = 24 * hourMs;

/** Draws a clip. What it leads to keeps the file and returns the URL, as soon as the task's end is known. */
export async function drawClip(
  { results, engine, draft }: VideoServices,
  plan: ClipPlan,
  triggers: Triggers,
): Promise<CreateOutput<string>> {
  const file = await engine.run('renderClip', draft ? coarse(plan) : plan);
  return (endedAt) => results.storeAndSign(file, plan.container, expiryOf(triggers, endedAt));
}

/** The same with its last frame, as a PNG. */
export async function drawLastFrame(
  { results, engine, draft }: VideoServices,
  plan: ClipPlan,
  triggers: Triggers,
): Promise<CreateOutput<string>> {
  const file = await engine.run('renderLastFrame', draft ? coarse(plan) : plan);
  return (endedAt) => results.storeAndSign(file, 'png', expiryOf(triggers, endedAt));
}

const [draftLines, draftRate] = [120, 2];

/** As long, and of the same proportions, with few pixels, few frames and no sound. */
function coarse(plan: ClipPlan): ClipPlan {
  const frames = Math.max(1, Math.round((plan.frames / plan.frameRate) * draftRate));
  return { ...plan, ...frameSize(draftLines, plan), frameRate: draftRate, frames, audio: false };
}

function expiryOf(triggers: Triggers, endedAt: number): number {
  return triggers.has('expired-url') ? 1 : endedAt + lifetime;
}

/** How a piece of media shows in the clip that refers to it. */
export function referenceOf({ facts, thumbnail }: SeenMedia): Reference {
  const parts = [facts.kind.toUpperCase()];
  if (facts.kind !== 'audio') parts.push(`${facts.width}x${facts.height}`);
  if (facts.kind !== 'image') parts.push(`${facts.seconds.toFixed(1)}s`);
  return { label: parts.join(' '), picture: thumbnail };
}

/** The size of the first picture or video, which an adaptive ratio follows. */
export function firstSize(media: readonly SeenMedia[]): { width: number; height: number } | undefined {
  for (const { facts } of media) if (facts.kind !== 'audio') return facts;
  return undefined;
}

/** Seconds of all clips together. */
export function totalSeconds(media: readonly SeenMedia[]): number {
  return media.reduce((sum, { facts }) => sum + (facts.kind === 'image' ? 0 : facts.seconds), 0);
}

/** No clip is longer or taller than this. */
const maxRatio = 21 / 9;

/**
 * Size of a frame whose shorter side has `lines` pixels. `ratio` is width to height, such as `16:9`, or the size of
 * a picture to follow.
 */
export function frameSize(lines: number, ratio: string | FrameSize): FrameSize {
  const { width, height } = typeof ratio === 'string' ? parseRatio(ratio) : ratio;
  const proportion = Math.min(maxRatio, Math.max(1 / maxRatio, width / height));
  return proportion >= 1
    ? { width: even(lines * proportion), height: lines }
    : { width: lines, height: even(lines / proportion) };
}

/** A size in the form of a ratio. */
export function ratioOf({ width, height }: FrameSize): string {
  return `${width}:${height}`;
}

/** Lines of a resolution such as `720p`. */
export function linesOf(resolution: string): number {
  return Number.parseInt(resolution, 10);
}

/** Seconds for a clip whose length the model may choose: longer prompts make longer clips. */
export function chooseSeconds(prompt: string, minSeconds: number): number {
  const words = prompt.trim() === '' ? 0 : prompt.trim().split(/\s+/).length;
  return Math.max(minSeconds, Math.min(10, 4 + Math.floor(words / 8)));
}

function parseRatio(ratio: string): FrameSize {
  const [width = 16, height = 9] = ratio.split(':').map(Number);
  return { width, height };
}

function even(value: number): number {
  return 2 * Math.round(value / 2);
}
