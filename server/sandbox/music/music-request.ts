import type { JsonObject } from '../http/json-body.ts';
import { Parameters } from '../native/parameters.ts';

/** A submitted song, as its fields say. */
export interface MusicRequest {
  /** Version of the model. */
  version: string;
  task: 'gen_stem' | 'extend' | undefined;
  title: string;
  tags: string;
  negativeTags: string;
  /** What the song is about, in inspiration mode. */
  description: string;
  /** To be sung, in custom mode. */
  lyrics: string;
  instrumental: boolean;
  /** Clip or task to go on from or to take apart. */
  continueClipId: string | undefined;
  /** Seconds of it. */
  continueAt: number | undefined;
  stemTask: StemTask;
  /** Each 0 to 1. */
  sliders: Readonly<Partial<Record<SliderName, number>>>;
}

export const stemTasks = ['two', 'twelve'] as const;
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

/** Most characters. */
const limits = { description: 200, lyrics: 3000, tags: 120, negativeTags: 1000, title: 1000 } as const;
const maxSeconds = 3600;

/** Reads the body of a music request. Throws a `NativeError` 400 that names field and limit. */
export function readMusicRequest(body: JsonObject): MusicRequest {
  const request = new Parameters(body, '');
  const custom = request.flagOrBinary('custom_mode');
  const task = request.optionalChoice('task', ['gen_stem', 'extend'] as const);
  const continueClipId = request.string('continue_clip_id');
  const read: MusicRequest = {
    version: request.choice('mv', versions, 'chirp-hawk'),
    task: task ?? (continueClipId ? 'extend' : undefined),
    title: text(request, 'title', limits.title),
    tags: text(request, 'tags', limits.tags),
    negativeTags: text(request, 'negative_tags', limits.negativeTags),
    description: custom ? '' : describe(request),
    lyrics: custom ? text(request, 'prompt', limits.lyrics) : '',
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
  const isEmpty = [read.description, read.lyrics, read.tags, read.title].every((said) => said.trim() === '');
  if (read.task === undefined && isEmpty) throw request.invalid('prompt', 'is required, or tags or a title');
  return read;
}

/** What lyrics are asked for. */
export function readLyricsRequest(body: JsonObject): string {
  return new Parameters(body, '').limitedString('prompt', limits.lyrics);
}

/** A description may come as the prompt. */
function describe(request: Parameters): string {
  return (
    text(request, 'gpt_description_prompt', limits.description) || text(request, 'prompt', limits.description)
  );
}

function text(request: Parameters, name: string, limit: number): string {
  return request.string(name) ? request.limitedString(name, limit) : '';
}

function readSliders(request: Parameters): MusicRequest['sliders'] {
  const sliders = request.object('metadata')?.object('control_sliders');
  const sent = sliderNames.filter((name) => sliders?.has(name));
  return Object.fromEntries(sent.map((name) => [name, sliders?.number(name, { min: 0, max: 1 }, 0)]));
}
