import type { ClipPlan, FrameSize, Reference } from '../media/clip/clip-plan.ts';
import { hourMs } from '../tasks/protocol.ts';
import type { CreateOutput } from '../tasks/task-board.ts';
import type { Triggers } from '../triggers.ts';
import type { ValidatedMedia } from './media-loader.ts';
import type { VideoServices } from './video-services.ts';

const lifetimeMs = 24 * hourMs;

/** Renders a clip. The returned function stores the file and returns its URL. */
export async function renderClip(
  { results, engine, draft }: VideoServices,
  plan: ClipPlan,
  triggers: Triggers,
): Promise<CreateOutput<string>> {
  const file = await engine.run('renderClip', draft ? createDraftPlan(plan) : plan);
  return (endedAt) => results.storeAndSign(file, plan.container, expiryTime(triggers, endedAt));
}

/** Renders the last frame of a clip as a PNG. */
export async function renderLastFrame(
  { results, engine, draft }: VideoServices,
  plan: ClipPlan,
  triggers: Triggers,
): Promise<CreateOutput<string>> {
  const file = await engine.run('renderLastFrame', draft ? createDraftPlan(plan) : plan);
  return (endedAt) => results.storeAndSign(file, 'png', expiryTime(triggers, endedAt));
}

const [draftLines, draftRate] = [120, 2];

/** Returns a plan with the same duration and aspect ratio, but few pixels, few frames and no audio. */
function createDraftPlan(plan: ClipPlan): ClipPlan {
  const frames = Math.max(1, Math.round((plan.frames / plan.frameRate) * draftRate));
  return { ...plan, ...frameSize(draftLines, plan), frameRate: draftRate, frames, audio: false };
}

function expiryTime(triggers: Triggers, endedAt: number): number {
  return triggers.has('expired-url') ? 1 : endedAt + lifetimeMs;
}

/** Creates the tile for referenced media. */
export function createReference({ facts, thumbnail }: ValidatedMedia): Reference {
  const parts = [facts.kind.toUpperCase()];
  if (facts.kind !== 'audio') parts.push(`${facts.width}x${facts.height}`);
  if (facts.kind !== 'image') parts.push(`${facts.seconds.toFixed(1)}s`);
  return { label: parts.join(' '), image: thumbnail };
}

/** Returns the size of the first image or video, which determines an adaptive ratio. */
export function firstSize(media: readonly ValidatedMedia[]): { width: number; height: number } | undefined {
  for (const { facts } of media) if (facts.kind !== 'audio') return facts;
  return undefined;
}

/** Returns the total duration of all clips in seconds. */
export function totalSeconds(media: readonly ValidatedMedia[]): number {
  return media.reduce((sum, { facts }) => sum + (facts.kind === 'image' ? 0 : facts.seconds), 0);
}

/** Maximum aspect ratio in both orientations. */
const maxRatio = 21 / 9;

/**
 * Returns the frame size whose shorter side has `lines` pixels. `ratio` is an aspect ratio such as `16:9`, or a size
 * with the same aspect ratio.
 */
export function frameSize(lines: number, ratio: string | FrameSize): FrameSize {
  const { width, height } = typeof ratio === 'string' ? parseRatio(ratio) : ratio;
  const proportion = Math.min(maxRatio, Math.max(1 / maxRatio, width / height));
  return proportion >= 1
    ? { width: even(lines * proportion), height: lines }
    : { width: lines, height: even(lines / proportion) };
}

/** Formats a size as an aspect ratio. */
export function formatRatio({ width, height }: FrameSize): string {
  return `${width}:${height}`;
}

/** Returns the lines of a resolution such as `720p`. */
export function parseLines(resolution: string): number {
  return Number.parseInt(resolution, 10);
}

/** Chooses the duration in seconds if the request leaves it to the model. Longer prompts result in longer clips. */
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
