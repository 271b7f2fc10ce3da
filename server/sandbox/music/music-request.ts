import type { JsonObject } from '../http/json-body.ts';
import { Parameters } from '../native/parameters.ts';

/** Fields of a submitted song. Stored on disk. */
export interface MusicRequest {
  /** Version of the model. */
  version: string;
  task: 'gen_stem' | 'extend' | undefined;
  title: string;
  tags: string;
  negativeTags: string;
  /** Description of the song, in inspiration mode. */
  description: string;
  /** Lyrics to sing, in custom mode. */
  lyrics: string;
  instrumental: boolean;
  /** Clip or task to continue or to separate into stems. */
  continueClipId: string | undefined;
  /** Position in that clip, in seconds. */
  continueAt: number | undefined;
  stemTask: StemTask;
  /** Each from 0 to 1. */
  sliders: Readonly<Partial<Record<SliderName, number>>>;
}

const stemTasks = ['two', 'twelve'] as const;
export type StemTask = (typeof stemTasks)[number];

const versions = [
  'chirp-hawk',
  'chirp-fenix',
  'chirp-bluejay',
  'chirp-auk',
  'chirp-v4',
  'chirp-v3-5',
] as const;
const sliderNames = ['style_weight', 'weirdness_constraint', 'audio_weight'] as const;
type SliderName = (typeof sliderNames)[number];

/** Maximum number of characters. */
const limits = { description: 200, lyrics: 3000, tags: 120, negativeTags: 1000, title: 1000 } as const;
const maxSeconds = 3600;

/** Reads the body of a music request. Throws a `NativeError` 400 with the field and the limit. */
export function readMusicRequest(body: JsonObject): MusicRequest {
  const request = new Parameters(body, '');
  const custom = request.flagOrBinary('custom_mode');
  const task = request.optionalChoice('task', ['gen_stem', 'extend'] as const);
  const continueClipId = request.string('continue_clip_id');
  const read: MusicRequest = {
    version: request.choice('mv', versions, 'chirp-hawk'),
    task: task ?? (continueClipId ? 'extend' : undefined),
    title: readText(request, 'title', limits.title),
    tags: readText(request, 'tags', limits.tags),
    negativeTags: readText(request, 'negative_tags', limits.negativeTags),
    description: custom ? '' : readDescription(request),
    lyrics: custom ? readText(request, 'prompt', limits.lyrics) : '',
    instrumental: request.flagOrBinary('make_instrumental'),
    continueClipId: continueClipId || undefined,
    continueAt: request.has('continue_at')
      ? request.number('continue_at', { min: 0, max: maxSeconds }, 0)
      : undefined,
    stemTask: request.choice('stem_task', stemTasks, 'two'),
    sliders: readSliders(request),
  };
  if (read.task !== undefined && read.continueClipId === undefined)
    throw request.invalid('continue_clip_id', `is required for ${read.task}`);
  const isEmpty = [read.description, read.lyrics, read.tags, read.title].every(
    (value) => value.trim() === '',
  );
  if (read.task === undefined && isEmpty)
    throw request.invalid('prompt', 'is required unless tags or title is set');
  return read;
}

/** Reads the prompt of a lyrics request. */
export function readLyricsRequest(body: JsonObject): string {
  return new Parameters(body, '').limitedString('prompt', limits.lyrics);
}

/** The description can also be in the field `prompt`. */
function readDescription(request: Parameters): string {
  return (
    readText(request, 'gpt_description_prompt', limits.description) ||
    readText(request, 'prompt', limits.description)
  );
}

function readText(request: Parameters, name: string, limit: number): string {
  return request.string(name) ? request.limitedString(name, limit) : '';
}

function readSliders(request: Parameters): MusicRequest['sliders'] {
  const sliders = request.object('metadata')?.object('control_sliders');
  const sent = sliderNames.filter((name) => sliders?.has(name));
  return Object.fromEntries(sent.map((name) => [name, sliders?.number(name, { min: 0, max: 1 }, 0)]));
}
