import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { shownFiles } from '../links-for.ts';
import { recordStatus } from '../official/family-record.ts';
import { unixTime } from '../video-task.ts';
import { type MusicFacts, type MusicResult, type Song, songsOf } from './music.ts';

type Schemas = components['schemas'];

/** The record of a music or lyrics task: what fetch and callbacks show. */
export function renderMusicTask(task: TaskRecord, links: FileLinks): Schemas['MusicTaskRecord'] {
  const { id, error, startedAt, completedAt } = task;
  const { action = 'MUSIC' }: MusicFacts = task.facts;
  const { lyrics }: MusicResult = task.result ?? {};
  const facts = {
    task_id: id,
    status: recordStatus(task),
    fail_reason: error?.message ?? '',
    submit_time: unixTime(task.createdAt),
    start_time: startedAt === null ? 0 : unixTime(startedAt),
    finish_time: completedAt === null ? 0 : unixTime(completedAt),
    progress: `${completedAt === null ? task.progress : 100}%`,
  };
  return action === 'LYRICS'
    ? { ...facts, action, data: task.state === 'completed' ? (lyrics ?? null) : null }
    : { ...facts, action, data: shownSongs(task, links) };
}

/** The same task in format A. */
export function renderMusicState(task: TaskRecord, links: FileLinks): Schemas['MusicStateReply']['data'] {
  const { input = {} }: MusicFacts = task.facts;
  const songs = shownSongs(task, links);
  return {
    task_id: task.id,
    status: recordStatus(task),
    fail_reason: task.error?.message ?? '',
    input: { ...input },
    clips: Object.fromEntries(songs.map((song) => [song.id, song])),
  };
}

const files = ['audio_url', 'video_url', 'image_url', 'image_large_url'] as const;

/** The songs of a task as `songsOf`, with their files as the client is shown them. */
export function shownSongs(task: TaskRecord, links: FileLinks): Song[] {
  return songsOf(task).map((song) => {
    // There is no file at an empty address.
    const there = Object.fromEntries(files.map((name) => [name, song[name] || undefined]));
    return { ...song, ...shownFiles(there, files, task, links) };
  });
}
