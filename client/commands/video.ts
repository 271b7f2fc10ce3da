import type { Unigate } from '../unigate.ts';
import type { VideoRequest } from '../videos.ts';
import type { Invocation, Options } from './command-line.ts';
import { imageTypes, readMediaFile, readUrl } from './media-options.ts';
import { fileTaskSteps, runTask } from './run-task.ts';
import { readInteger, readParameters, readPrompt } from './task-options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate video`: writes the video of a prompt to a file or to standard output. */
export async function makeVideo(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = 'gamma3.0-video-prime' } = invocation.options;
  const readRequest = async () =>
    readVideoRequest(await readPrompt(invocation, terminal, signal), model, invocation.options);
  await runTask(fileTaskSteps(client.videos, readRequest), invocation, terminal, signal);
}

/** Names of options in a model family. Undefined if the family lacks the option. */
interface OptionNames {
  size: 'size' | 'resolution';
  ratio: string;
  audio?: string;
  seed?: string;
}

const namesByFamily: Readonly<Record<Family, OptionNames>> = {
  gamma: { size: 'size', ratio: 'ratio', audio: 'audio', seed: 'seed' },
  seedance: { size: 'size', ratio: 'ratio', audio: 'generate_audio', seed: 'seed' },
  eta: { size: 'resolution', ratio: 'aspect_ratio' },
};

type Family = 'gamma' | 'seedance' | 'eta';
type Media = Pick<VideoRequest, 'image' | 'images' | 'reference_images' | 'video' | 'metadata'>;

/** Builds the request with the option names of the model family. Throws UsageError. */
async function readVideoRequest(
  prompt: string | undefined,
  model: string,
  options: Options,
): Promise<VideoRequest> {
  const family = familyOf(model);
  const names = namesByFamily[family];
  const extras = {
    ...familyOption(model, names.ratio, options.ratio),
    ...familyOption(model, names.audio, options['no-audio'] ? false : undefined, 'no-audio'),
    ...familyOption(model, names.seed, readInteger(options, 'seed'), 'seed'),
    ...readParameters(options),
  };
  const media = await readMedia(family, prompt, options);
  if (prompt === undefined && Object.keys(media).length === 0)
    throw new UsageError('A prompt, an image or a video is required.');
  return {
    model,
    ...(prompt !== undefined && { prompt }),
    ...(options.seconds !== undefined && { seconds: String(readInteger(options, 'seconds')) }),
    ...familyOption(model, names.size, options.size),
    ...media,
    ...placeExtras(family, extras, media),
  };
}

function familyOf(model: string): Family {
  if (model.startsWith('gamma')) return 'gamma';
  return model.startsWith('eta-') ? 'eta' : 'seedance';
}

function familyOption(model: string, name: string | undefined, value: unknown, option = name) {
  if (value === undefined) return {};
  if (name === undefined) throw new UsageError(`--${option} is not supported by ${model}.`);
  return { [name]: value };
}

/** Places options of the family where its requests expect them. */
function placeExtras(family: Family, extras: Record<string, unknown>, { metadata }: Media): object {
  if (Object.keys(extras).length === 0) return {};
  if (family === 'eta') return extras;
  return { metadata: family === 'gamma' ? { parameters: extras } : { ...metadata, ...extras } };
}

async function readMedia(family: Family, prompt: string | undefined, options: Options): Promise<Media> {
  const { image, 'reference-image': references = [] } = options;
  const first = await readFrame('first-frame', options);
  const last = await readFrame('last-frame', options);
  const video = readUrl('--video', options.video);
  if (first === undefined && last === undefined) {
    const urls = await Promise.all(
      references.map((value) => readMediaFile('--reference-image', value, imageTypes)),
    );
    return {
      ...(image !== undefined && { image: await readMediaFile('--image', image, imageTypes) }),
      ...(urls.length > 0 && { reference_images: urls.map((url) => ({ url })) }),
      ...(video !== undefined && { video: { url: video } }),
    };
  }
  if (first === undefined) throw new UsageError('--last-frame requires --first-frame.');
  if (image !== undefined || references.length > 0 || video !== undefined)
    throw new UsageError('--first-frame and --last-frame cannot be combined with other media.');
  if (family === 'gamma') return { images: last === undefined ? [first] : [first, last] };
  if (family === 'seedance') return { metadata: { content: frames(prompt, first, last) } };
  if (last !== undefined) throw new UsageError('--last-frame is not supported by eta models.');
  return { image: first };
}

async function readFrame(name: 'first-frame' | 'last-frame', options: Options): Promise<string | undefined> {
  const value = options[name];
  return value === undefined ? undefined : await readMediaFile(`--${name}`, value, imageTypes);
}

/** Builds official content, because generic requests of this family use images as references. */
function frames(prompt: string | undefined, first: string, last: string | undefined) {
  const frame = <Role extends string>(role: Role, url: string) =>
    ({ type: 'image_url', image_url: { url }, role }) as const;
  return [
    ...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]),
    frame('first_frame', first),
    ...(last === undefined ? [] : [frame('last_frame', last)]),
  ];
}
