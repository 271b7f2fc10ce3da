import { randomInt } from 'node:crypto';
import type { ClipPlan } from '../../media/clip/clip-plan.ts';
import type { CreateOutput } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import { createReference, frameSize, parseLines, renderClip } from '../clip.ts';
import { etaLimits } from '../media-limits.ts';
import type { VideoServices } from '../video-services.ts';
import type { EtaRequest } from './eta-request.ts';

export interface EtaOutput {
  url: string;
  /** In seconds. */
  duration: number;
}

const frameRate = 30;

/** Loads the media of a request and renders its clip. Throws a `TaskFailure` if a media file exceeds a limit. */
export async function runEtaJob(
  services: VideoServices,
  request: EtaRequest,
  triggers: Triggers,
): Promise<CreateOutput<EtaOutput>> {
  const { media } = services;
  const [image, video, references] = await Promise.all([
    request.image === undefined ? undefined : media.load('image', request.image, etaLimits.image),
    request.video === undefined ? undefined : media.load('video', request.video, etaLimits.video),
    Promise.all(request.references.map((url) => media.load('image', url, etaLimits.image))),
  ]);
  const source = video?.facts.seconds ?? 0;
  const seconds =
    request.action === 'edits'
      ? source
      : request.action === 'extensions'
        ? source + request.duration
        : request.duration;
  const sourceSize = image?.facts ?? video?.facts;
  const plan: ClipPlan = {
    ...frameSize(parseLines(request.resolution), request.aspectRatio ?? sourceSize ?? '16:9'),
    frameRate,
    frames: Math.max(1, Math.round(seconds * frameRate)),
    container: 'mp4',
    caption: request.prompt,
    seed: randomInt(2 ** 31),
    // The protocol has no audio option.
    audio: false,
    watermark: false,
    firstFrame: image?.thumbnail,
    references: [...(video ? [video] : []), ...references].map(createReference),
  };
  const storeVideo = await renderClip(services, plan, triggers);
  return (endedAt) => ({
    url: storeVideo(endedAt),
    duration: Math.round((plan.frames / frameRate) * 100) / 100,
  });
}
