import type { components } from '../../../generated/http.ts';
import { pick } from '../../lib/json.ts';
import type { PriceFields } from '../../settings/price-rules.ts';
import { type MusicFacts, sliders } from './music.ts';

type Schemas = components['schemas'];
type MusicRequest = Schemas['SubmitMusicRequest'];

/** A request for music or lyrics, translated for the upstream. The driver adds the model version. */
export interface TranslatedMusic {
  body: Readonly<Record<string, unknown>>;
  facts: MusicFacts & Readonly<Record<string, unknown>>;
  /** Maximum units, which are reserved. */
  expectedUnits: number;
  /** The fields that the price depends on. */
  priceFields: PriceFields;
}

const songsPerRequest = 2;

const storedFields = [
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

/** Upstream parameter and number of tracks of each separation. */
const separations = {
  two: { group: 'Two', tracks: 2 },
  twelve: { group: 'Twelve', tracks: 12 },
} as const;
const stemType = 91;

export function sigmaMusic(request: MusicRequest): TranslatedMusic {
  const { mv: _, callback_url: _callback, notify_hook: _hook, ...fields } = request;
  const facts = { action: 'MUSIC' as const, input: inputOf(request) };
  const priceFields = { task: request.task ?? 'create' };
  if (request.task !== 'gen_stem')
    return {
      body: fields,
      facts: { ...facts, mv: 'chirp-hawk' },
      expectedUnits: songsPerRequest,
      priceFields,
    };
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
    body: { prompt: '', ...fields, ...stems },
    facts: { ...facts, mv: 'chirp-auk' },
    expectedUnits: tracks,
    priceFields,
  };
}

export function sigmaLyrics({ prompt }: Schemas['SubmitLyricsRequest']): TranslatedMusic {
  const facts = { action: 'LYRICS' as const, input: { prompt } };
  return { body: { prompt }, facts, expectedUnits: 1, priceFields: { task: 'lyrics' } };
}

function inputOf(request: MusicRequest): Readonly<Record<string, unknown>> {
  const control = request.metadata?.control_sliders;
  return {
    ...pick(request, storedFields),
    ...(control && { metadata: { control_sliders: pick(control, sliders) } }),
  };
}
