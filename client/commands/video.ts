import type { Unigate } from '../unigate.ts';
import type { VideoRequest } from '../videos.ts';
import { UsageError } from './check-options.ts';
import type { Invocation, Options } from './command-line.ts';
import { imageTypes, readAddress, readMediaFile } from './media-options.ts';
import { makingOf, takeResult } from './take-result.ts';
import { readParameters, readPrompt, readWhole } from './task-options.ts';
import type { Terminal } from './terminal.ts';

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
  await takeResult(makingOf(client.videos, readRequest), invocation, terminal, signal);
}

/** What a family of models calls an option; undefined where it has no such option. */
interface Names {
  size: 'size' | 'resolution';
  ratio: string;
  audio?: string;
  seed?: string;
}

const namesByFamily: Readonly<Record<Family, Names>> = {
  gamma: { size: 'size', ratio: 'ratio', audio: 'audio', seed: 'seed' },
  seedance: { size: 'size', ratio: 'ratio', audio: 'generate_audio', seed: 'seed' },
  eta: { size: 'resolution', ratio: 'aspect_ratio' },
};

type Family = 'gamma' | 'seedance' | 'eta';
type Media = Pick<VideoRequest, 'image' | 'images' | 'reference_images' | 'video' | 'metadata'>;

/** The request of `unigate video`, in the words of the model's family. Throws UsageError. */
async function readVideoRequest(
  prompt: string | undefined,
  model: string,
  options: Options,
): Promise<VideoRequest> {
  const family = familyOf(model);
  const names = namesByFamily[family];
  const extras = {
    ...named(model, names.ratio, options.ratio),
    ...named(model, names.audio, options['no-audio'] ? false : undefined, 'no-audio'),
    ...named(model, names.seed, readWhole(options, 'seed'), 'seed'),
    ...readParameters(options),
  };
  const media = await readMedia(family, prompt, options);
  if (prompt === undefined && Object.keys(media).length === 0)
    throw new UsageError('Give a prompt, an image or a video.');
  return {
    model,
    ...(prompt !== undefined && { prompt }),
    ...(options.seconds !== undefined && { seconds: String(readWhole(options, 'seconds')) }),
    ...named(model, names.size, options.size),
    ...media,
    ...placed(family, extras, media),
  };
}

function familyOf(model: string): Family {
  if (model.startsWith('gamma')) return 'gamma';
  return model.startsWith('eta-') ? 'eta' : 'seedance';
}

function named(model: string, name: string | undefined, value: unknown, option = name) {
  if (value === undefined) return {};
  if (name === undefined) throw new UsageError(`--${option}: ${model} has no such option.`);
  return { [name]: value };
}

/** Options that only this family has, where it looks for them. */
function placed(family: Family, extras: Record<string, unknown>, { metadata }: Media): object {
  if (Object.keys(extras).length === 0) return {};
  if (family === 'eta') return extras;
  return { metadata: family === 'gamma' ? { parameters: extras } : { ...metadata, ...extras } };
}

async function readMedia(family: Family, prompt: string | undefined, options: Options): Promise<Media> {
  const { image, 'reference-image': references = [] } = options;
  const first = await readFrame('first-frame', options);
  const last = await readFrame('last-frame', options);
  const video = readAddress('--video', options.video);
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
  if (first === undefined) throw new UsageError('--last-frame needs --first-frame.');
  if (image !== undefined || references.length > 0 || video !== undefined)
    throw new UsageError('--first-frame and --last-frame go with no other media.');
  if (family === 'gamma') return { images: last === undefined ? [first] : [first, last] };
  if (family === 'seedance') return { metadata: { content: frames(prompt, first, last) } };
  if (last !== undefined) throw new UsageError('--last-frame: eta models have no such option.');
  return { image: first };
}

async function readFrame(name: 'first-frame' | 'last-frame', options: Options): Promise<string | undefined> {
  const value = options[name];
  return value === undefined ? undefined : await readMediaFile(`--${name}`, value, imageTypes);
}

/** The official content, since a generic request of this family takes its images for references. */
function frames(prompt: string | undefined, first: string, last: string | undefined) {
  const frame = <Role extends string>(role: Role, url: string) =>
    ({ type: 'image_url', image_url: { url }, role }) as const;
  return [
    ...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]),
    frame('first_frame', first),
    ...(last === undefined ? [] : [frame('last_frame', last)]),
  ];
}
