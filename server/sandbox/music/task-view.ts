import type { FileStore } from '../http/file-store.ts';
import { createClipId } from './clip-id.ts';
import type { MusicJob, SigmaOutput, SigmaTask } from './music-task.ts';
import { convertErrorCode } from './sigma-error.ts';

type Files = Pick<FileStore, 'signUrl'>;
type Stage = ReturnType<SigmaTask['stage']>;
type MusicOutput = Extract<SigmaOutput, { action: 'MUSIC' }>;
/** A song in the format of the protocol. */
export type Song = Readonly<Record<string, unknown>>;

const statuses = {
  queued: ['QUEUED', 'queued'],
  running: ['IN_PROGRESS', 'streaming'],
  succeeded: ['SUCCESS', 'complete'],
  failed: ['FAILURE', 'error'],
  expired: ['UNKNOWN', 'error'],
  canceled: ['UNKNOWN', 'error'],
} as const;

/** Formats a task. */
export function formatTask(task: SigmaTask, files: Files): object {
  const stage = task.stage();
  const [status] = statuses[stage.name];
  return {
    task_id: task.id,
    action: task.request.action,
    status,
    fail_reason: stage.name === 'failed' ? stage.failure.message : '',
    submit_time: toSeconds(task.createdAt),
    start_time: 'startedAt' in stage ? toSeconds(stage.startedAt) : 0,
    finish_time: 'endedAt' in stage ? toSeconds(stage.endedAt) : 0,
    progress: formatProgress(stage),
    data: task.request.action === 'MUSIC' ? formatSongs(task, files) : formatLyrics(task, stage),
  };
}

/** Formats the songs of a task in any state. A lyrics task has none. */
export function formatSongs(task: SigmaTask, files: Files): Song[] {
  const { request } = task;
  if (request.action !== 'MUSIC') return [];
  const stage = task.stage();
  const output = stage.name === 'succeeded' && stage.output.action === 'MUSIC' ? stage.output : undefined;
  return request.clips.map((_, index) => formatSong(task, request, { index, stage, output }, files));
}

function formatSong(
  task: SigmaTask,
  job: MusicJob,
  { index, stage, output }: { index: number; stage: Stage; output: MusicOutput | undefined },
  files: Files,
): Song {
  const id = createClipId(task.id, index);
  const finished = output?.clips[index];
  const url = (name: string | undefined) => (name && output ? files.signUrl(name, output.expiresAt) : '');
  const failure =
    stage.name === 'failed'
      ? stage.failure
      : output && !finished
        ? { code: 'generation_failed', message: 'The song could not be generated' }
        : undefined;
  return {
    id,
    clip_id: id,
    title: job.clips[index]?.title ?? '',
    status: failure ? 'error' : statuses[stage.name][1],
    audio_url: url(finished?.mp3),
    video_url: '',
    image_url: url(finished?.cover),
    image_large_url: url(finished?.largeCover),
    model_name: job.request.version,
    major_model_version: job.request.version.replace('chirp-', ''),
    created_at: new Date(task.createdAt).toISOString(),
    user_id: 'sandbox',
    display_name: 'Unigate Sandbox',
    handle: 'sandbox',
    avatar_image_url: '',
    is_liked: false,
    is_public: false,
    is_trashed: false,
    is_handle_updated: false,
    is_video_pending: false,
    play_count: 0,
    upvote_count: 0,
    reaction: null,
    metadata: {
      ...formatRequest(job, index),
      duration: finished ? Math.round(finished.facts.seconds * 100) / 100 : null,
      // Also false for lyrics that are not sung because the speech engine is missing.
      has_vocal: finished ? finished.facts.families.includes('Vocals') : null,
      error_type: failure ? convertErrorCode(failure.code) : null,
      error_message: failure?.message ?? null,
    },
  };
}

/** Formats the metadata that is known from the start. */
function formatRequest({ request, source, tags, clips }: MusicJob, index: number): Song {
  const { stems, clipId, at } = source ?? {};
  const isContinuation = source !== undefined && stems === undefined;
  return {
    tags,
    prompt: clips[index]?.song.lyrics ?? '',
    gpt_description_prompt: request.description || null,
    negative_tags: request.negativeTags,
    audio_prompt_id: clipId ?? null,
    history: isContinuation ? [{ id: clipId, continue_at: at, type: 'gen', source: 'api' }] : null,
    concat_history: null,
    type: stems ? 'stem' : 'gen',
    refund_credits: false,
    stream: true,
    stem_from_id: stems ? clipId : null,
    stem_task: stems ?? null,
    stem_type_id: stems ? 91 : null,
    stem_type_group_name: stems ? stems.charAt(0).toUpperCase() + stems.slice(1) : null,
    has_stem: false,
    make_instrumental: request.instrumental,
    control_sliders: request.sliders,
    task: request.task ?? null,
  };
}

function formatLyrics(task: SigmaTask, stage: Stage): object | null {
  if (stage.name !== 'succeeded' || stage.output.action !== 'LYRICS') return null;
  const { title, text } = stage.output;
  return { id: createClipId(task.id, 0), status: 'complete', title, text };
}

function formatProgress(stage: Stage): string {
  if (stage.name === 'queued') return '0%';
  return stage.name === 'running' ? `${stage.progress}%` : '100%';
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
