import type { components } from '../../../generated/http.ts';
import type { MusicFacts } from './music.ts';

type Schemas = components['schemas'];
type MusicRequest = Schemas['SubmitMusicRequest'];

/** A request for music or lyrics in the words of the upstream; the driver adds the model version. */
export interface TranslatedMusic {
  body: Readonly<Record<string, unknown>>;
  facts: MusicFacts & Readonly<Record<string, unknown>>;
  /** The most that can come of it. */
  expectedUnits: number;
}

/** Songs that a request makes. */
const usual = 2;

/** The fields that are kept of a request; whatever else it holds goes to the provider alone. */
const kept = [
  'mv',
  'prompt',
  'gpt_description_prompt',
  'title',
  'tags',
  'negative_tags',
  'make_instrumental',
  'continue_clip_id',
  'continue_at',
  'task_id',
  'task',
  'stem_task',
] as const satisfies readonly (keyof MusicRequest)[];

/** What the upstream wants for each separation, beside the clip, and how many tracks that makes. */
const separations = {
  two: { group: 'Two', tracks: 2 },
  twelve: { group: 'Twelve', tracks: 12 },
} as const;
const stemType = 91;

/** The upstream's body for a song, a continuation or stems. Flags stay as they were sent. */
export function sigmaMusic(request: MusicRequest): TranslatedMusic {
  const { mv: _, callback_url: _callback, notify_hook: _hook, ...wanted } = request;
  const facts = { action: 'MUSIC' as const, input: inputOf(request) };
  if (request.task !== 'gen_stem')
    return { body: wanted, facts: { ...facts, mv: 'chirp-hawk' }, expectedUnits: usual };
  const { stem_task = 'two' } = request;
  const { group, tracks } = separations[stem_task];
  const stems = {
    stem_task,
    stem_type_id: stemType,
    stem_type_group_name: group,
    make_instrumental: true,
    generation_type: 'TEXT',
  };
  return {
    body: { prompt: '', ...wanted, ...stems },
    facts: { ...facts, mv: 'chirp-auk' },
    expectedUnits: tracks,
  };
}

export function sigmaLyrics({ prompt }: Schemas['SubmitLyricsRequest']): TranslatedMusic {
  return { body: { prompt }, facts: { action: 'LYRICS', input: { prompt } }, expectedUnits: 1 };
}

function inputOf(request: MusicRequest): Readonly<Record<string, unknown>> {
  const fields = kept.flatMap((name) =>
    request[name] === undefined ? [] : [[name, request[name]] as const],
  );
  const sliders = request.metadata?.control_sliders;
  return {
    ...Object.fromEntries(fields),
    ...(sliders !== undefined && {
      metadata: { control_sliders: slidersOf(sliders) },
    }),
  };
}

function slidersOf({ style_weight, weirdness_constraint, audio_weight }: Schemas['MusicControlSliders']) {
  return { style_weight, weirdness_constraint, audio_weight };
}
