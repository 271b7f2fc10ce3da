import type { components } from '../../../generated/http.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

type Schemas = components['schemas'];
export type Song = Schemas['Song'];
export type Lyrics = NonNullable<Schemas['Lyrics']>;

/** The one version that music is made with, and the one that takes songs apart, as clients know them. */
export type MusicVersion = 'chirp-hawk' | 'chirp-auk';

/** What the gateway remembers of a request for music or lyrics. */
export interface MusicFacts {
  action?: 'MUSIC' | 'LYRICS';
  mv?: MusicVersion;
  /** The fields of the request, for the format that repeats them. */
  input?: Readonly<Record<string, unknown>>;
}

/** What the driver keeps of an upstream's answer. All ids in it are the gateway's own. */
export interface MusicResult {
  songs?: readonly Song[];
  lyrics?: Lyrics;
}

/** The songs of a task, those that are still being made included; none of one that has failed. */
export function songsOf({ state, result }: Pick<TaskRecord, 'state' | 'result'>): readonly Song[] {
  const { songs = [] }: MusicResult = result ?? {};
  return state === 'failed' ? [] : songs;
}

/** A request may become several tasks upstream, which are one here: their ids are kept as one text. */
const separator = ',';

/** Undefined when one of the ids cannot be told apart any more. */
export function joinedIds(ids: readonly string[]): string | undefined {
  return ids.length === 0 || ids.some((id) => id.includes(separator)) ? undefined : ids.join(separator);
}

export function separateIds(upstreamId: string): string[] {
  return upstreamId.split(separator);
}
