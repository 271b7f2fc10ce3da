import { createHash } from 'node:crypto';
import type { NewClip } from '../../store/commands/clips.ts';
import {
  booleanField,
  countField,
  defined,
  field,
  idField,
  integerField,
  numberBetween,
  pickDefined,
  textField,
  timeField,
  urlField,
} from '../json.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import type { PublicIds } from '../public-ids.ts';
import { type Lyrics, type MusicVersion, type Song, sliders } from './music.ts';

/** A request makes at most 12 stems. */
const maxSongs = 24;
/** Maximum length of stored texts. Lyrics may be longer than their prompt. */
const maxLength = { lyrics: 20_000, text: 2_000 };
const maxHistory = 20;

export interface SongTask {
  id: string;
  mv: MusicVersion;
  upstreamId: string;
  /** The task has ended: playable songs are complete, others have failed. */
  isEnded: boolean;
  publicIds: PublicIds;
  redactor: ProviderRedactor;
}

export interface FoundSong {
  song: Song;
  clip: NewClip;
}

/** Reads the fields of songs that clients may see, with public ids. Drops a song without an id. */
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

/** Reads the lyrics of a task. Undefined while there are none. */
export function readLyrics(reported: unknown, taskId: string): Lyrics | undefined {
  const lyrics: unknown = Array.isArray(reported) ? reported[0] : reported;
  const text = textField(lyrics, 'text', maxLength.lyrics);
  if (text === undefined) return undefined;
  const id = publicId(taskId, idField(lyrics, 'id') ?? 'lyrics');
  return { id, status: 'complete', title: shortText(lyrics, 'title') ?? '', text };
}

/** Derives a stable UUID from the task's id and the upstream's id. */
function publicId(taskId: string, upstreamId: string): string {
  const hash = createHash('sha256').update(`${taskId} ${upstreamId}`).digest('hex');
  // UUID version 8 has custom bits.
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16);
  const [first, second, last] = [hash.slice(0, 8), hash.slice(8, 12), hash.slice(20, 32)];
  return `${first}-${second}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${last}`;
}

const flags = ['is_liked', 'is_public', 'is_trashed', 'is_video_pending'] as const;

function songOf(reported: unknown, id: string, task: SongTask): Song {
  const audio = urlField(reported, 'audio_url');
  const created = timeField(reported, 'created_at');
  return {
    id,
    clip_id: id,
    title: shortText(reported, 'title') ?? '',
    status: statusOf(reported, audio !== undefined, task),
    audio_url: audio ?? '',
    image_url: urlField(reported, 'image_url') ?? '',
    ...pickDefined(['video_url', 'image_large_url'], (name) => urlField(reported, name)),
    // The provider's name may differ.
    model_name: task.mv,
    ...pickDefined(['major_model_version'], (name) => shortText(reported, name)),
    ...(!Number.isNaN(created) && { created_at: new Date(created).toISOString() }),
    ...pickDefined(flags, (name) => booleanField(reported, name)),
    ...pickDefined(['play_count', 'upvote_count'], (name) => countField(reported, name)),
    metadata: metadataOf(field(reported, 'metadata'), task),
  };
}

const known: ReadonlySet<unknown> = new Set<Song['status']>(['submitted', 'queued', 'streaming', 'error']);

function statusOf(reported: unknown, playable: boolean, { isEnded }: SongTask): Song['status'] {
  const status = field(reported, 'status');
  if (isEnded) return playable && status !== 'error' ? 'complete' : 'error';
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
const metadataFlags = ['refund_credits', 'stream', 'has_vocal', 'has_stem', 'make_instrumental'] as const;

function metadataOf(reported: unknown, { publicIds, redactor }: SongTask): Song['metadata'] {
  const own = (value: unknown, name: string) => publicIds[textField(value, name) ?? ''];
  const control = pickDefined(sliders, (name) =>
    numberBetween(field(reported, 'control_sliders'), name, 0, 1),
  );
  return {
    ...pickDefined(texts, (name) => shortText(reported, name)),
    ...pickDefined(['prompt'], (name) => textField(reported, name, maxLength.lyrics)),
    ...pickDefined(['error_type', 'error_message'], (name) => {
      const text = shortText(reported, name);
      return text && redactor.redact(text);
    }),
    ...pickDefined(metadataFlags, (name) => flag(reported, name)),
    // Clients can use only public ids.
    ...pickDefined(['audio_prompt_id', 'stem_from_id'], (name) => own(reported, name)),
    ...pickDefined(['history', 'concat_history'], (name) => historyOf(field(reported, name), own)),
    ...pickDefined(['stem_type_id'], (name) => integerField(reported, name)),
    ...pickDefined(['duration'], (name) => numberBetween(reported, name, 0)),
    ...(Object.keys(control).length > 0 && { control_sliders: control }),
  };
}

/** Earlier clips of a song that the client knows. */
function historyOf(reported: unknown, own: (value: unknown, name: string) => string | undefined) {
  if (!Array.isArray(reported)) return undefined;
  const clips = reported.slice(0, maxHistory).flatMap((one) => {
    const id = own(one, 'id');
    const continue_at = numberBetween(one, 'continue_at', 0);
    return id === undefined ? [] : [{ id, ...defined({ continue_at }) }];
  });
  return clips.length === 0 ? undefined : clips;
}

function shortText(value: unknown, name: string): string | undefined {
  return textField(value, name, maxLength.text);
}

function flag(value: unknown, name: string): boolean | undefined {
  const found = field(value, name);
  return found === 0 || found === 1 ? found === 1 : booleanField(value, name);
}
