import type { FileStore } from '../http/file-store.ts';
import { clipIdOf } from './clip-id.ts';
import type { MusicJob, SigmaOutput, SigmaTask } from './music-task.ts';
import { sigmaCode } from './sigma-error.ts';

type Files = Pick<FileStore, 'signUrl'>;
type Stage = ReturnType<SigmaTask['stage']>;
type MusicOutput = Extract<SigmaOutput, { action: 'MUSIC' }>;
/** A song on the wire. */
export type Song = Readonly<Record<string, unknown>>;

const statuses = {
  queued: ['QUEUED', 'queued'],
  running: ['IN_PROGRESS', 'streaming'],
  succeeded: ['SUCCESS', 'complete'],
  failed: ['FAILURE', 'error'],
  expired: ['UNKNOWN', 'error'],
  canceled: ['UNKNOWN', 'error'],
} as const;

/** The record of a task. */
export function showTask(task: SigmaTask, files: Files): object {
  const stage = task.stage();
  const [status] = statuses[stage.name];
  return {
    task_id: task.id,
    action: task.request.action,
    status,
    fail_reason: stage.name === 'failed' ? stage.failure.message : '',
    submit_time: seconds(task.createdAt),
    start_time: 'startedAt' in stage ? seconds(stage.startedAt) : 0,
    finish_time: 'endedAt' in stage ? seconds(stage.endedAt) : 0,
    progress: progressOf(stage),
    data: task.request.action === 'MUSIC' ? showSongs(task, files) : showLyrics(task, stage),
  };
}

/** The songs of a task, whatever its stage; those of lyrics are none. */
export function showSongs(task: SigmaTask, files: Files): Song[] {
  const { request } = task;
  if (request.action !== 'MUSIC') return [];
  const stage = task.stage();
  const output = stage.name === 'succeeded' && stage.output.action === 'MUSIC' ? stage.output : undefined;
  return request.clips.map((_, index) => showSong(task, request, { index, stage, output }, files));
}

function showSong(
  task: SigmaTask,
  job: MusicJob,
  { index, stage, output }: { index: number; stage: Stage; output: MusicOutput | undefined },
  files: Files,
): Song {
  const id = clipIdOf(task.id, index);
  const finished = output?.clips[index];
  const address = (name: string | undefined) => (name && output ? files.signUrl(name, output.expiresAt) : '');
  const failure =
    stage.name === 'failed'
      ? stage.failure
      : output && !finished
        ? { code: 'generation_failed', message: 'The song could not be made' }
        : undefined;
  return {
    id,
    clip_id: id,
    title: job.clips[index]?.title ?? '',
    status: failure ? 'error' : statuses[stage.name][1],
    audio_url: address(finished?.mp3),
    video_url: '',
    image_url: address(finished?.cover),
    image_large_url: address(finished?.largeCover),
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
      ...showRequest(job, index),
      duration: finished ? Math.round(finished.facts.seconds * 100) / 100 : null,
      // False also for lyrics that nobody could sing, because there is no speech engine.
      has_vocal: finished ? finished.facts.families.includes('Vocals') : null,
      error_type: failure ? sigmaCode(failure.code) : null,
      error_message: failure?.message ?? null,
    },
  };
}

/** What of the metadata is known from the beginning. */
function showRequest({ request, source, tags, clips }: MusicJob, index: number): Song {
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

function showLyrics(task: SigmaTask, stage: Stage): object | null {
  if (stage.name !== 'succeeded' || stage.output.action !== 'LYRICS') return null;
  const { title, text } = stage.output;
  return { id: clipIdOf(task.id, 0), status: 'complete', title, text };
}

function progressOf(stage: Stage): string {
  if (stage.name === 'queued') return '0%';
  return stage.name === 'running' ? `${stage.progress}%` : '100%';
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
