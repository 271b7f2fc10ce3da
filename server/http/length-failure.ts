import { type Failure, invalid } from '../failure.ts';
import { secondsWords, videoSeconds } from '../models/video-seconds.ts';

const videoOperations = ['createVideo', 'createVideoGeneration', 'synthesizeVideo', 'createOfficialTask'];
const lengthPlace = /^\/body((?:\/metadata)?(?:\/parameters)?\/(?:seconds|duration))$/;

/**
 * What is wrong with the length of a video, in words that tell the model's range: a schema tells a text by its
 * pattern and a number by one bound. Undefined when the violation is about something else.
 */
export function lengthFailure(
  operation: string,
  body: unknown,
  { path }: { path: string },
): Failure | undefined {
  const place = lengthPlace.exec(path)?.[1];
  if (place === undefined || !videoOperations.includes(operation)) return undefined;
  const { model } = body as { model?: unknown };
  const range = typeof model === 'string' ? videoSeconds(model) : undefined;
  return range === undefined ? undefined : invalid(place.slice(1).replaceAll('/', '.'), secondsWords(range));
}
