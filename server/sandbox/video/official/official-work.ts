import type { ClipPlan } from '../../media/clip/clip-plan.ts';
import { type CreateOutput, type Task, TaskFailure } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import {
  chooseSeconds,
  createReference,
  firstSize,
  formatRatio,
  frameSize,
  parseLines,
  renderClip,
  renderLastFrame,
  totalSeconds,
} from '../clip.ts';
import { assetLimits, type MediaLimits } from '../media-limits.ts';
import type { ValidatedMedia } from '../media-loader.ts';
import type { VideoServices } from '../video-services.ts';
import type { OfficialMedia, Role } from './content.ts';
import { type OfficialRequest, taskTypeConstraint } from './official-request.ts';

/** Output of a finished Seedance task. */
export interface OfficialOutput {
  /** File URLs. */
  video: string;
  lastFrame: string | undefined;
  ratio: string;
  /** In seconds. */
  duration: number;
  tokens: number;
}

export type OfficialTask = Task<OfficialRequest, OfficialOutput>;

export const frameRate = 24;
const clipTolerance = 0.1;
/** Duration limits of a video that is edited, in seconds. */
const editedSeconds = [4, 30] as const;

/** Loads the media of a request and renders its clip. Throws a `TaskFailure` if a media file exceeds a limit. */
export async function runOfficialJob(
  services: VideoServices,
  request: OfficialRequest,
  triggers: Triggers,
): Promise<CreateOutput<OfficialOutput>> {
  if (request.hiddenConflict)
    throw new TaskFailure(taskTypeConstraint, 'A video with a first frame supports only ratio adaptive');
  const loaded = await Promise.all(
    request.media.map(async (item) => ({ ...item, media: await loadItem(services, request, item) })),
  );
  const ofRole = (role: Role) => loaded.filter((item) => item.role === role).map(({ media }) => media);
  const videos = ofRole('reference_video');
  for (const clips of [videos, ofRole('reference_audio')]) {
    if (totalSeconds(clips) > request.bounds.clipSeconds + clipTolerance)
      throw new TaskFailure(
        'InvalidParameter.Duration',
        `The references are longer than ${request.bounds.clipSeconds} seconds in total`,
      );
  }

  const frames = request.frames ?? chooseDuration(request, videos) * frameRate;
  const sourceSize = request.ratio === 'adaptive' ? firstSize(loaded.map(({ media }) => media)) : undefined;
  const ratio = request.ratio === 'adaptive' ? '16:9' : request.ratio;
  const plan: ClipPlan = {
    ...frameSize(parseLines(request.resolution), sourceSize ?? ratio),
    frameRate,
    frames,
    container: request.outputFormat,
    caption: request.prompt,
    seed: request.seed,
    audio: request.generateAudio,
    watermark: request.watermark,
    firstFrame: ofRole('first_frame')[0]?.thumbnail,
    lastFrame: ofRole('last_frame')[0]?.thumbnail,
    references: loaded
      .filter(({ role }) => !role.endsWith('_frame'))
      .map(({ media }) => createReference(media)),
  };
  const storeVideo = await renderClip(services, plan, triggers);
  const storeLastFrame = request.returnLastFrame
    ? await renderLastFrame(services, plan, triggers)
    : undefined;
  return (endedAt) => ({
    video: storeVideo(endedAt),
    lastFrame: storeLastFrame?.(endedAt),
    ratio: sourceSize ? formatRatio(sourceSize) : ratio,
    duration: Math.round(frames / frameRate),
    tokens: Math.round((plan.width * plan.height * frames) / 1024),
  });
}

function chooseDuration(
  { duration, taskType, prompt, bounds }: OfficialRequest,
  videos: readonly ValidatedMedia[],
): number {
  if (duration !== -1) return duration;
  if (taskType === 'edit') return Math.round(totalSeconds(videos.slice(0, 1)));
  return chooseSeconds(prompt, bounds.seconds[0]);
}

async function loadItem(
  { assets, media }: VideoServices,
  { model, taskType }: OfficialRequest,
  { kind, url }: OfficialMedia,
): Promise<ValidatedMedia> {
  const asset = assets.findReferenced(url, model);
  if (asset) return asset;
  const limits: MediaLimits =
    kind === 'video' && taskType === 'edit'
      ? { ...assetLimits.video, seconds: editedSeconds }
      : assetLimits[kind];
  return await media.load(kind, url, limits);
}
