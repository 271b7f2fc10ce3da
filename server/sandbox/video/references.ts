import type { Reference } from '../media/clip/clip-plan.ts';
import type { LoadedMedia } from './media-loader.ts';

/** How a piece of media shows in the clip that refers to it. */
export function referenceOf({ facts, thumbnail }: LoadedMedia): Reference {
  const parts = [facts.kind.toUpperCase()];
  if (facts.kind !== 'audio') parts.push(`${facts.width}x${facts.height}`);
  if (facts.kind !== 'image') parts.push(`${facts.seconds.toFixed(1)}s`);
  return { label: parts.join(' '), picture: thumbnail };
}

/** The size of the first picture or video, which an adaptive ratio follows. */
export function firstSize(media: readonly LoadedMedia[]): { width: number; height: number } | undefined {
  for (const { facts } of media) if (facts.kind !== 'audio') return facts;
  return undefined;
}

/** Seconds of all clips together. */
export function totalSeconds(media: readonly LoadedMedia[]): number {
  return media.reduce((sum, { facts }) => sum + (facts.kind === 'image' ? 0 : facts.seconds), 0);
}
