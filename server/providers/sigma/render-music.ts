import type { components } from '../../../generated/http.ts';
import { pickDefined } from '../../lib/json.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { publicFileUrls } from '../client-links.ts';
import { recordStatus } from '../official/family-record.ts';
import { chargeOf, queueOf, unixTime } from '../video-task.ts';
import { type MusicFacts, type MusicResult, type Song, songsOf } from './music.ts';

type Schemas = components['schemas'];

/** Renders the record of a music or lyrics task for fetch and callbacks. */
export function renderMusicTask(task: TaskRecord, links: FileLinks): Schemas['MusicTaskRecord'] {
  const { id, error, completedAt } = task;
  const { action = 'MUSIC' }: MusicFacts = task.facts;
  const { lyrics }: MusicResult = task.result ?? {};
  const facts = {
    ...queueOf(task),
    ...chargeOf(task),
    task_id: id,
    status: recordStatus(task),
    fail_reason: error?.message ?? '',
    submit_time: unixTime(task.createdAt),
    start_time: unixTime(task.startedAt),
    finish_time: unixTime(completedAt),
    progress: `${completedAt === null ? task.progress : 100}%`,
  };
  return action === 'LYRICS'
    ? { ...facts, action, data: task.state === 'completed' ? (lyrics ?? null) : null }
    : { ...facts, action, data: publicSongs(task, links) };
}

/** Renders a music task in format A. */
export function renderMusicState(task: TaskRecord, links: FileLinks): Schemas['MusicStateReply']['data'] {
  const { input = {} }: MusicFacts = task.facts;
  const songs = publicSongs(task, links);
  return {
    ...queueOf(task),
    ...chargeOf(task),
    task_id: task.id,
    status: recordStatus(task),
    fail_reason: task.error?.message ?? '',
    input: { ...input },
    clips: Object.fromEntries(songs.map((song) => [song.id, song])),
  };
}

const files = ['audio_url', 'video_url', 'image_url', 'image_large_url'] as const;

export function publicSongs(task: TaskRecord, links: FileLinks): Song[] {
  return songsOf(task).map((song) => {
    // An empty URL means no file.
    const urls = pickDefined(files, (name) => song[name] || undefined);
    return { ...song, ...publicFileUrls(urls, files, task, links) };
  });
}
