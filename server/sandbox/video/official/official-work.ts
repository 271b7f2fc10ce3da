import type { ClipPlan } from '../../media/clip/clip-plan.ts';
import { type CreateOutput, type Task, TaskFailure } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import {
  chooseSeconds,
  drawClip,
  drawLastFrame,
  firstSize,
  frameSize,
  linesOf,
  ratioOf,
  referenceOf,
  totalSeconds,
} from '../clip.ts';
import { assetLimits, type MediaLimits } from '../media-limits.ts';
import type { SeenMedia } from '../media-loader.ts';
import type { VideoServices } from '../video-services.ts';
import type { OfficialMedia, Role } from './content.ts';
import { type OfficialRequest, taskTypeConstraint } from './official-request.ts';

/** What a finished Seedance task made. */
export interface OfficialOutput {
  /** URLs of the files. */
  video: string;
  lastFrame: string | undefined;
  ratio: string;
  /** Seconds. */
  duration: number;
  tokens: number;
}

export type OfficialTask = Task<OfficialRequest, OfficialOutput>;

export const frameRate = 24;
const clipTolerance = 0.1;
/** Seconds of a video that is edited. */
const editedSeconds = [4, 30] as const;

/** Loads the media of a request and draws its clip. Throws a `TaskFailure` where the media breaks a limit. */
export async function workOnOfficial(
  services: VideoServices,
  request: OfficialRequest,
  triggers: Triggers,
): Promise<CreateOutput<OfficialOutput>> {
  if (request.hiddenConflict)
    throw new TaskFailure(taskTypeConstraint, 'A video with a first frame takes only ratio adaptive');
  const loaded = await Promise.all(
    request.media.map(async (item) => ({ ...item, media: await loadItem(services, request, item) })),
  );
  const ofRole = (role: Role) => loaded.filter((item) => item.role === role).map(({ media }) => media);
  const videos = ofRole('reference_video');
  for (const clips of [videos, ofRole('reference_audio')]) {
    if (totalSeconds(clips) > request.bounds.clipSeconds + clipTolerance)
      throw new TaskFailure(
        'InvalidParameter.Duration',
        `References last more than ${request.bounds.clipSeconds} seconds`,
      );
  }

  const frames = request.frames ?? secondsOf(request, videos) * frameRate;
  const followed = request.ratio === 'adaptive' ? firstSize(loaded.map(({ media }) => media)) : undefined;
  const ratio = request.ratio === 'adaptive' ? '16:9' : request.ratio;
  const plan: ClipPlan = {
    ...frameSize(linesOf(request.resolution), followed ?? ratio),
    frameRate,
    frames,
    container: request.outputFormat,
    caption: request.prompt,
    seed: request.seed,
    audio: request.generateAudio,
    watermark: request.watermark,
    firstFrame: ofRole('first_frame')[0]?.thumbnail,
    lastFrame: ofRole('last_frame')[0]?.thumbnail,
    references: loaded.filter(({ role }) => !role.endsWith('_frame')).map(({ media }) => referenceOf(media)),
  };
  const keepVideo = await drawClip(services, plan, triggers);
  const keepLastFrame = request.returnLastFrame ? await drawLastFrame(services, plan, triggers) : undefined;
  return (endedAt) => ({
    video: keepVideo(endedAt),
    lastFrame: keepLastFrame?.(endedAt),
    ratio: followed ? ratioOf(followed) : ratio,
    duration: Math.round(frames / frameRate),
    tokens: Math.round((plan.width * plan.height * frames) / 1024),
  });
}

function secondsOf(
  { duration, taskType, prompt, bounds }: OfficialRequest,
  videos: readonly SeenMedia[],
): number {
  if (duration !== -1) return duration;
  if (taskType === 'edit') return Math.round(totalSeconds(videos.slice(0, 1)));
  return chooseSeconds(prompt, bounds.seconds[0]);
}

async function loadItem(
  { assets, media }: VideoServices,
  { model, taskType }: OfficialRequest,
  { kind, url }: OfficialMedia,
): Promise<SeenMedia> {
  const asset = assets.referenced(url, model);
  if (asset) return asset;
  const limits: MediaLimits =
    kind === 'video' && taskType === 'edit'
      ? { ...assetLimits.video, seconds: editedSeconds }
      : assetLimits[kind];
  return await media.load(kind, url, limits);
}
