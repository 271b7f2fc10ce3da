import { createHash } from 'node:crypto';
import type { NewClip } from '../../store/commands/clips.ts';
import {
  countField,
  field,
  flagField,
  idField,
  numberField,
  picked,
  textField,
  webAddress,
  wholeField,
} from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';
import type { PublicIds } from '../public-ids.ts';
import type { Lyrics, MusicVersion, Song } from './music.ts';

/** Twelve stems are the most that a request makes. */
const maxSongs = 24;
/** Characters of texts that are kept: lyrics may be longer than what they were asked for with. */
const maxLength = { lyrics: 20_000, text: 2_000 };
const maxHistory = 20;

/** The task that songs are of. */
export interface SongTask {
  id: string;
  mv: MusicVersion;
  upstreamId: string;
  /** It reports no more: what can be played is complete, and the rest has failed. */
  ended: boolean;
  /** Of what its request refers to. */
  publicIds: PublicIds;
  words: ProviderWords;
}

export interface FoundSong {
  song: Song;
  clip: NewClip;
}

/**
 * What an upstream reports of songs, as far as clients may see it: the gateway's ids in the place of its own, and
 * nothing of a type that the contract does not have. A song without an id is left out.
 */
export function readSongs(reported: unknown, task: SongTask): FoundSong[] {
  const found = new Map<string, FoundSong>();
  for (const one of Array.isArray(reported) ? reported.slice(0, maxSongs) : []) {
    const upstreamId = idField(one, 'id') ?? idField(one, 'clip_id');
    if (upstreamId === undefined || found.has(upstreamId)) continue;
    const id = publicId(task.id, upstreamId);
    const clip = { id, upstreamId, upstreamTaskId: task.upstreamId };
    found.set(upstreamId, { clip, song: songOf(one, id, task) });
  }
  return [...found.values()];
}

/** The lyrics of a task; undefined while there are none. */
export function readLyrics(reported: unknown, taskId: string): Lyrics | undefined {
  const lyrics: unknown = Array.isArray(reported) ? reported[0] : reported;
  const text = textField(lyrics, 'text')?.slice(0, maxLength.lyrics);
  if (text === undefined) return undefined;
  const id = publicId(taskId, idField(lyrics, 'id') ?? 'lyrics');
  return { id, status: 'complete', title: shortText(lyrics, 'title') ?? '', text };
}

/** The same whenever it is asked for, and unlike any other: a UUID of the task and the upstream's id. */
function publicId(taskId: string, upstreamId: string): string {
  const hash = createHash('sha256').update(`${taskId} ${upstreamId}`).digest('hex');
  // Version 8 is the one whose bits are its maker's own.
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16);
  const [first, second, last] = [hash.slice(0, 8), hash.slice(8, 12), hash.slice(20, 32)];
  return `${first}-${second}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${last}`;
}

const addresses = ['video_url', 'image_large_url'] as const;
const flags = ['is_liked', 'is_public', 'is_trashed', 'is_video_pending'] as const;
const counts = ['play_count', 'upvote_count'] as const;

function songOf(reported: unknown, id: string, task: SongTask): Song {
  const audio = webAddress(reported, 'audio_url');
  const created = Date.parse(textField(reported, 'created_at') ?? '');
  const version = shortText(reported, 'major_model_version');
  return {
    id,
    clip_id: id,
    title: shortText(reported, 'title') ?? '',
    status: statusOf(reported, audio !== undefined, task),
    audio_url: audio ?? '',
    image_url: webAddress(reported, 'image_url') ?? '',
    ...picked(addresses, (name) => webAddress(reported, name)),
    // The provider may call it otherwise.
    model_name: task.mv,
    ...(version !== undefined && { major_model_version: version }),
    ...(!Number.isNaN(created) && { created_at: new Date(created).toISOString() }),
    ...picked(flags, (name) => flagField(reported, name)),
    ...picked(counts, (name) => countField(reported, name)),
    metadata: metadataOf(field(reported, 'metadata'), task),
  };
}

const known: ReadonlySet<unknown> = new Set<Song['status']>(['submitted', 'queued', 'streaming', 'error']);

function statusOf(reported: unknown, playable: boolean, { ended }: SongTask): Song['status'] {
  const status = field(reported, 'status');
  if (ended) return playable && status !== 'error' ? 'complete' : 'error';
  if (playable && status === 'complete') return 'complete';
  if (known.has(status)) return status as Song['status'];
  return playable ? 'streaming' : 'queued';
}

const texts = [
  'tags',
  'gpt_description_prompt',
  'negative_tags',
  'type',
  'stem_task',
  'stem_type_group_name',
  'task',
] as const;
const failureTexts = ['error_type', 'error_message'] as const;
const metadataFlags = ['refund_credits', 'stream', 'has_vocal', 'has_stem', 'make_instrumental'] as const;
const references = ['audio_prompt_id', 'stem_from_id'] as const;
const histories = ['history', 'concat_history'] as const;
const sliders = ['style_weight', 'weirdness_constraint', 'audio_weight'] as const;

function metadataOf(reported: unknown, { publicIds, words }: SongTask): Song['metadata'] {
  const own = (value: unknown, name: string) => publicIds[textField(value, name) ?? ''];
  const control = picked(sliders, (name) => share(numberField(field(reported, 'control_sliders'), name)));
  return {
    ...picked(texts, (name) => shortText(reported, name)),
    ...picked(['prompt'], (name) => textField(reported, name)?.slice(0, maxLength.lyrics)),
    ...picked(failureTexts, (name) => {
      const text = shortText(reported, name);
      return text && words.text(text);
    }),
    ...picked(metadataFlags, (name) => flag(reported, name)),
    // The gateway's own ids are the only ones that a client can use.
    ...picked(references, (name) => own(reported, name)),
    ...picked(histories, (name) => historyOf(field(reported, name), own)),
    ...picked(['stem_type_id'], (name) => wholeField(reported, name)),
    ...picked(['duration'], (name) => atLeastZero(numberField(reported, name))),
    ...(Object.keys(control).length > 0 && { control_sliders: control }),
  };
}

/** The clips that a song goes on from, as far as the client knows them. */
function historyOf(reported: unknown, own: (value: unknown, name: string) => string | undefined) {
  if (!Array.isArray(reported)) return undefined;
  const clips = reported.slice(0, maxHistory).flatMap((one) => {
    const id = own(one, 'id');
    const at = atLeastZero(numberField(one, 'continue_at'));
    return id === undefined ? [] : [{ id, ...(at !== undefined && { continue_at: at }) }];
  });
  return clips.length === 0 ? undefined : clips;
}

function shortText(value: unknown, name: string): string | undefined {
  return textField(value, name)?.slice(0, maxLength.text);
}

/** True or false, or as a number. */
function flag(value: unknown, name: string): boolean | undefined {
  const found = field(value, name);
  return found === 0 || found === 1 ? found === 1 : flagField(value, name);
}

function atLeastZero(number: number | undefined): number | undefined {
  return number !== undefined && number >= 0 ? number : undefined;
}

function share(number: number | undefined): number | undefined {
  return number !== undefined && number >= 0 && number <= 1 ? number : undefined;
}
