import type { components } from '../../../generated/http.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

type Schemas = components['schemas'];
export type Song = Schemas['Song'];
export type Lyrics = NonNullable<Schemas['Lyrics']>;

/** Public versions: `chirp-hawk` generates music, `chirp-auk` separates stems. */
export type MusicVersion = 'chirp-hawk' | 'chirp-auk';

export const sliders = ['style_weight', 'weirdness_constraint', 'audio_weight'] as const;

/** Stored properties of a request for music or lyrics. */
export interface MusicFacts {
  action?: 'MUSIC' | 'LYRICS';
  mv?: MusicVersion;
  /** Fields of the request, for the format that returns them. */
  input?: Readonly<Record<string, unknown>>;
}

/** Stored result of a music task. All ids in it are public. */
export interface MusicResult {
  songs?: readonly Song[];
  lyrics?: Lyrics;
}

/** Songs of a task, including unfinished ones. Empty for a failed task. */
export function songsOf({ state, result }: Pick<TaskRecord, 'state' | 'result'>): readonly Song[] {
  const { songs = [] }: MusicResult = result ?? {};
  return state === 'failed' ? [] : songs;
}

/** A task may have several upstream tasks, whose ids are stored as one text. */
const separator = ',';

/** Undefined if an id contains the separator. */
export function joinIds(ids: readonly string[]): string | undefined {
  return ids.length === 0 || ids.some((id) => id.includes(separator)) ? undefined : ids.join(separator);
}

export function splitIds(upstreamId: string): string[] {
  return upstreamId.split(separator);
}
