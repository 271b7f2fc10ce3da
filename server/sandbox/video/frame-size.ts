import type { FrameSize } from '../media/clip/clip-plan.ts';

/** No clip is longer or taller than this. */
const widest = 21 / 9;

/**
 * Size of a frame whose shorter side has `lines` pixels. `ratio` is width to height, such as `16:9`, or the size of
 * a picture to follow.
 */
export function frameSize(lines: number, ratio: string | FrameSize): FrameSize {
  const { width, height } = typeof ratio === 'string' ? parseRatio(ratio) : ratio;
  const proportion = Math.min(widest, Math.max(1 / widest, width / height));
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
export function chooseSeconds(prompt: string, shortest: number): number {
  const words = prompt.trim() === '' ? 0 : prompt.trim().split(/\s+/).length;
  return Math.max(shortest, Math.min(10, 4 + Math.floor(words / 8)));
}

function parseRatio(ratio: string): FrameSize {
  const [width = 16, height = 9] = ratio.split(':').map(Number);
  return { width, height };
}

function even(value: number): number {
  return 2 * Math.round(value / 2);
}
