import type { ClipPlan, Reference } from '../../media/clip/clip-plan.ts';
import { type CreateOutput, TaskFailure } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import {
  chooseSeconds,
  drawClip,
  firstSize,
  frameSize,
  linesOf,
  ratioOf,
  referenceOf,
  totalSeconds,
} from '../clip.ts';
import { gammaLimits } from '../media-limits.ts';
import type { MediaLoader, SeenMedia } from '../media-loader.ts';
import type { VideoServices } from '../video-services.ts';
import { type MediaItem, type MediaType, maxSeconds, type VideoRequest } from './video-request.ts';

/** What a finished task adds to the answer of a poll. */
export interface NativeOutput {
  output: object;
  usage?: object;
}

const frameRate = 30;
/** Seconds of all reference videos together, and of all reference audios. */
const maxClipSeconds = 15;
const clipTolerance = 0.1;

const kinds = {
  first_frame: 'image',
  last_frame: 'image',
  reference_image: 'image',
  reference_video: 'video',
  reference_audio: 'audio',
} as const;

interface Loaded {
  type: MediaType;
  /** Undefined for files and links, of which nothing can be shown. */
  media: SeenMedia | undefined;
  url: string;
}

/** Fetches the media of a request and draws its clip. Throws a `TaskFailure` where the media breaks a limit. */
export async function workOnVideo(
  services: VideoServices,
  request: VideoRequest,
  triggers: Triggers,
): Promise<CreateOutput<NativeOutput>> {
  const loaded = await Promise.all(request.media.map((item) => loadItem(services, item)));
  const ofType = (type: MediaType) =>
    loaded.flatMap((item) => (item.type === type && item.media ? [item.media] : []));
  const inputSeconds = checkClips(ofType('reference_video'), 'video');
  checkClips(ofType('reference_audio'), 'audio');
  const seconds = request.duration === -1 ? chooseSeconds(request.prompt, 2) : request.duration;
  if (inputSeconds > 0 && inputSeconds + seconds > maxSeconds + clipTolerance)
    throw new TaskFailure(
      'InvalidParameter',
      `Input video of ${inputSeconds.toFixed(1)} seconds and output of ${seconds} are more than ${maxSeconds} together`,
    );

  const followed = firstSize(loaded.flatMap(({ media }) => media ?? []));
  const adaptive = request.ratio === 'adaptive' && followed;
  const lines = linesOf(request.resolution);
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
    references: loaded.filter(({ type }) => !type.endsWith('_frame')).map(showItem),
  };
  const keepVideo = await drawClip(services, plan, triggers);
  return (endedAt) => ({
    output: {
      ...(request.prompt !== '' && { orig_prompt: request.prompt }),
      video_url: keepVideo(endedAt),
    },
    usage: {
      video_count: 1,
      duration: round(inputSeconds + seconds),
      input_video_duration: round(inputSeconds),
      output_video_duration: seconds,
      fps: frameRate,
      SR: lines,
      ratio: adaptive ? ratioOf(adaptive) : request.ratio === 'adaptive' ? '16:9' : request.ratio,
    },
  });
}

async function loadItem({ media }: VideoServices, { type, url }: MediaItem): Promise<Loaded> {
  if (type === 'link') return { type, url, media: undefined };
  if (type === 'file') {
    await checkDocument(media, url);
    return { type, url, media: undefined };
  }
  const kind = kinds[type];
  return { type, url, media: await media.load(kind, url, gammaLimits[kind]) };
}

function showItem({ type, media, url }: Loaded): Reference {
  if (media) return referenceOf(media);
  const { hostname, pathname } = new URL(url);
  return { label: type === 'link' ? `LINK ${hostname}` : `FILE ${pathname.split('/').at(-1) ?? ''}` };
}

/** The seconds of all clips together. */
function checkClips(clips: readonly SeenMedia[], kind: string): number {
  const seconds = totalSeconds(clips);
  if (seconds > maxClipSeconds + clipTolerance)
    throw new TaskFailure(
      'InvalidParameter.Duration',
      `The reference ${kind}s last ${seconds.toFixed(1)} seconds; at most ${maxClipSeconds} are allowed`,
    );
  return seconds;
}

function round(seconds: number): number {
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

/** Fetches a document and checks its kind, size and, for a PDF, its pages. Throws a `TaskFailure`. */
async function checkDocument(loader: MediaLoader, url: string): Promise<void> {
  const extension = /\.([a-z]+)$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  if (!extensions.includes(extension))
    throw new TaskFailure('InvalidParameter.Format', `A file must be one of ${extensions.join(', ')}`);
  const bytes = await loader.fetch(url, maxFileBytes);
  if (extension !== 'pdf') return;
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.startsWith('%PDF-')) throw new TaskFailure('InvalidParameter.Format', 'The file is no PDF');
  // Pages inside compressed streams are not seen; only the plain ones count.
  const pages = text.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  if (pages > maxPages)
    throw new TaskFailure(
      'InvalidParameter.Pages',
      `The file has ${pages} pages; at most ${maxPages} are allowed`,
    );
}
