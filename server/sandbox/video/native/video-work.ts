import type { ClipPlan, Reference } from '../../media/clip/clip-plan.ts';
import { type CreateOutput, TaskFailure } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import {
  chooseSeconds,
  createReference,
  firstSize,
  formatRatio,
  frameSize,
  parseLines,
  renderClip,
  totalSeconds,
} from '../clip.ts';
import { gammaLimits } from '../media-limits.ts';
import type { MediaLoader, ValidatedMedia } from '../media-loader.ts';
import type { VideoServices } from '../video-services.ts';
import { type MediaItem, type MediaType, maxSeconds, type VideoRequest } from './video-request.ts';

/** Output of a finished task in the response of a poll. */
export interface NativeOutput {
  output: object;
  usage?: object;
}

const frameRate = 30;
/** Maximum total duration of all reference videos, and of all reference audio files. */
const maxClipSeconds = 15;
const clipTolerance = 0.1;

const kinds = {
  first_frame: 'image',
  last_frame: 'image',
  reference_image: 'image',
  reference_video: 'video',
  reference_audio: 'audio',
} as const;

interface LoadedItem {
  type: MediaType;
  /** Undefined for files and links, which have no preview. */
  media: ValidatedMedia | undefined;
  url: string;
}

/** Loads the media of a request and renders its clip. Throws a `TaskFailure` if a media file exceeds a limit. */
export async function runVideoJob(
  services: VideoServices,
  request: VideoRequest,
  triggers: Triggers,
): Promise<CreateOutput<NativeOutput>> {
  const loaded = await Promise.all(request.media.map((item) => loadItem(services, item)));
  const ofType = (type: MediaType) =>
    loaded.flatMap((item) => (item.type === type && item.media ? [item.media] : []));
  const inputSeconds = validateDuration(ofType('reference_video'), 'video');
  validateDuration(ofType('reference_audio'), 'audio');
  const seconds = request.duration === -1 ? chooseSeconds(request.prompt, 2) : request.duration;
  if (inputSeconds > 0 && inputSeconds + seconds > maxSeconds + clipTolerance)
    throw new TaskFailure(
      'InvalidParameter',
      `Input video of ${inputSeconds.toFixed(1)} seconds and output of ${seconds} seconds exceed ${maxSeconds} seconds in total`,
    );

  const sourceSize = firstSize(loaded.flatMap(({ media }) => media ?? []));
  const adaptive = request.ratio === 'adaptive' && sourceSize;
  const lines = parseLines(request.resolution);
  const plan: ClipPlan = {
    ...frameSize(lines, adaptive || (request.ratio === 'adaptive' ? '16:9' : request.ratio)),
    frameRate,
    frames: seconds * frameRate,
    container: 'mp4',
    caption: request.prompt,
    seed: request.seed,
    audio: request.audio,
    watermark: request.watermark,
    firstFrame: ofType('first_frame')[0]?.thumbnail,
    lastFrame: ofType('last_frame')[0]?.thumbnail,
    references: loaded.filter(({ type }) => !type.endsWith('_frame')).map(createItemReference),
  };
  const storeVideo = await renderClip(services, plan, triggers);
  return (endedAt) => ({
    output: {
      ...(request.prompt !== '' && { orig_prompt: request.prompt }),
      video_url: storeVideo(endedAt),
    },
    usage: {
      video_count: 1,
      duration: roundToHundredth(inputSeconds + seconds),
      input_video_duration: roundToHundredth(inputSeconds),
      output_video_duration: seconds,
      fps: frameRate,
      SR: lines,
      ratio: adaptive ? formatRatio(adaptive) : request.ratio === 'adaptive' ? '16:9' : request.ratio,
    },
  });
}

async function loadItem({ media }: VideoServices, { type, url }: MediaItem): Promise<LoadedItem> {
  if (type === 'link') return { type, url, media: undefined };
  if (type === 'file') {
    await validateDocument(media, url);
    return { type, url, media: undefined };
  }
  const kind = kinds[type];
  return { type, url, media: await media.load(kind, url, gammaLimits[kind]) };
}

function createItemReference({ type, media, url }: LoadedItem): Reference {
  if (media) return createReference(media);
  const { hostname, pathname } = new URL(url);
  return { label: type === 'link' ? `LINK ${hostname}` : `FILE ${pathname.split('/').at(-1) ?? ''}` };
}

/** Returns the total duration of all clips in seconds. Throws a `TaskFailure` if it is too long. */
function validateDuration(clips: readonly ValidatedMedia[], kind: string): number {
  const seconds = totalSeconds(clips);
  if (seconds > maxClipSeconds + clipTolerance)
    throw new TaskFailure(
      'InvalidParameter.Duration',
      `The reference ${kind}s last ${seconds.toFixed(1)} seconds; at most ${maxClipSeconds} are allowed`,
    );
  return seconds;
}

function roundToHundredth(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

const extensions = [
  'docx',
  'doc',
  'xlsx',
  'xls',
  'pptx',
  'ppt',
  'pdf',
  'txt',
  'key',
  'pages',
  'numbers',
  'md',
];
const maxFileBytes = 100 * 1024 * 1024;
const maxPages = 50;

/** Downloads a document and checks its type, its size and the number of pages of a PDF. Throws a `TaskFailure`. */
async function validateDocument(loader: MediaLoader, url: string): Promise<void> {
  const extension = /\.([a-z]+)$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  if (!extensions.includes(extension))
    throw new TaskFailure('InvalidParameter.Format', `A file must be one of ${extensions.join(', ')}`);
  const bytes = await loader.fetch(url, maxFileBytes);
  if (extension !== 'pdf') return;
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.startsWith('%PDF-')) throw new TaskFailure('InvalidParameter.Format', 'The file is not a PDF');
  // Only counts pages outside of compressed streams.
  const pages = text.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  if (pages > maxPages)
    throw new TaskFailure(
      'InvalidParameter.Pages',
      `The file has ${pages} pages; at most ${maxPages} are allowed`,
    );
}
