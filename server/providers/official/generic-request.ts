import { invalid } from '../../lib/failure.ts';
import { defined, pick } from '../../lib/json.ts';
import { conflict } from '../../models/media-rules.ts';
import { agreedValue, type GenericVideoRequest, ratioFields, requestedSeconds } from '../video.ts';
import { frameOfSize } from '../video-frame.ts';
import type { ContentItem, ContentSource } from './check-content.ts';
import type { FieldNames, OfficialOptions } from './check-options.ts';

/** Translates the prompt and media fields to official content. All images are references. @throws Failure 400 */
export function shortcutContent(request: GenericVideoRequest): ContentSource[] {
  const { prompt, video, metadata } = request;
  const sources: ContentSource[] = [
    ...(prompt ? [{ item: { type: 'text' as const, text: prompt }, field: 'prompt' }] : []),
    ...imageSources(request),
    ...sourcesOf(video?.url, 'video', 'video'),
    ...sourcesOf(metadata?.video_url, 'metadata.video_url', 'video'),
    ...sourcesOf(metadata?.audio_url, 'metadata.audio_url', 'audio'),
  ];
  if (sources.length === 0) throw invalid('prompt', 'a prompt or media is required.');
  return sources;
}

function imageSources(request: GenericVideoRequest): ContentSource[] {
  const { image, input_reference, images = [], reference_images = [] } = request;
  if (image !== undefined && input_reference !== undefined)
    throw conflict('input_reference', 'is an alias of image; send only one of them.');
  return [
    ...sourcesOf(image, 'image', 'image'),
    ...sourcesOf(input_reference?.image_url, 'input_reference.image_url', 'image'),
    ...sourcesOf(images, 'images', 'image'),
    ...sourcesOf(
      reference_images.map(({ url }) => url),
      'reference_images',
      'image',
    ),
  ];
}

/** Reads a field with one URL or a list of URLs. */
function sourcesOf(
  urls: string | readonly string[] = [],
  field: string,
  kind: 'image' | 'video' | 'audio',
): ContentSource[] {
  const type = `${kind}_url`;
  const itemOf = (url: string) => ({ type, [type]: { url }, role: `reference_${kind}` }) as ContentItem;
  if (typeof urls === 'string') return [{ item: itemOf(urls), field }];
  return urls.map((url, index) => ({ item: itemOf(url), field: `${field}.${index}` }));
}

/** Keys of `metadata` with the same name in the official request. */
const copiedFields = [
  'watermark',
  'return_last_frame',
  'seed',
  'camera_fixed',
  'draft',
  'service_tier',
  'execution_expires_after',
  'priority',
  'safety_identifier',
  'callback_url',
  'output_format',
  'tools',
  'frames',
  'generate_audio',
] as const satisfies readonly (keyof OfficialOptions)[];

/** Of all models. */
const resolutions = ['480p', '720p', '1080p', '4k'] as const;
export const fixedRatios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;
export const ratios = [...fixedRatios, 'adaptive'] as const;

/** Translates the options of a generic request. `nameOf` returns the client's field of an option. @throws Failure 400 */
export function genericOptions(request: GenericVideoRequest): {
  options: OfficialOptions;
  nameOf: FieldNames;
} {
  const { metadata = {} } = request;
  const frame = frameOfSize(request.size, { resolutions, ratios: fixedRatios });
  const resolution = agreedValue({
    size: frame?.resolution ?? request.size?.toLowerCase(),
    resolution: request.resolution?.toLowerCase(),
  });
  const ratio = agreedValue({ size: frame?.ratio, ...ratioFields(request, ratios) });
  const taskType = request.omni_reference_task_type ?? metadata.omni_reference_task_type;
  const duration = requestedSeconds(request)?.length;
  const options: OfficialOptions = {
    ...defined({ resolution: resolution?.value, ratio: ratio?.value, duration }),
    ...pick(metadata, copiedFields),
    ...defined({ omni_reference_task_type: taskType }),
  };
  const names: Readonly<Partial<Record<keyof OfficialOptions, string>>> = {
    resolution: resolution?.field ?? 'size',
    duration: request.seconds === undefined ? 'duration' : 'seconds',
    ratio: ratio?.field ?? 'metadata.ratio',
    ...(request.omni_reference_task_type !== undefined && {
      omni_reference_task_type: 'omni_reference_task_type',
    }),
  };
  return { options, nameOf: (field) => names[field] ?? `metadata.${field}` };
}
