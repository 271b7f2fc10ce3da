import { createHash } from 'node:crypto';
import {
  booleanField,
  countField,
  defined,
  field,
  idField,
  integerField,
  numberBetween,
  pickDefined,
  readFields,
  textField,
  timeField,
  urlField,
} from '../../lib/json.ts';
import type { NewClip } from '../../store/commands/clips.ts';
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
    // The provider's name may differ.
    model_name: task.mv,
    ...(!Number.isNaN(created) && { created_at: new Date(created).toISOString() }),
    ...readFields(reported, {
      video_url: urlField,
      image_large_url: urlField,
      major_model_version: shortText,
      is_liked: booleanField,
      is_public: booleanField,
      is_trashed: booleanField,
      is_video_pending: booleanField,
      play_count: countField,
      upvote_count: countField,
    }),
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

function metadataOf(reported: unknown, { publicIds, redactor }: SongTask): Song['metadata'] {
  // Clients can use only public ids.
  const publicIdIn = (value: unknown, name: string) => publicIds[textField(value, name) ?? ''];
  const history = (value: unknown, name: string) => historyOf(field(value, name), publicIdIn);
  const failure = (value: unknown, name: string) => {
    const text = shortText(value, name);
    return text && redactor.redact(text);
  };
  return readFields(reported, {
    tags: shortText,
    gpt_description_prompt: shortText,
    negative_tags: shortText,
    type: shortText,
    stem_task: shortText,
    stem_type_group_name: shortText,
    task: shortText,
    prompt: (value, name) => textField(value, name, maxLength.lyrics),
    error_type: failure,
    error_message: failure,
    refund_credits: flag,
    stream: flag,
    has_vocal: flag,
    has_stem: flag,
    make_instrumental: flag,
    audio_prompt_id: publicIdIn,
    stem_from_id: publicIdIn,
    history,
    concat_history: history,
    stem_type_id: integerField,
    duration: (value, name) => numberBetween(value, name, 0),
    control_sliders: (value, name) => {
      const control = pickDefined(sliders, (slider) => numberBetween(field(value, name), slider, 0, 1));
      return Object.keys(control).length > 0 ? control : undefined;
    },
  });
}

/** Earlier clips of a song that the client knows. */
function historyOf(reported: unknown, publicIdIn: (value: unknown, name: string) => string | undefined) {
  if (!Array.isArray(reported)) return undefined;
  const clips = reported.slice(0, maxHistory).flatMap((one) => {
    const id = publicIdIn(one, 'id');
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
