import { NativeError } from '../http/native-error.ts';
import { type ForcedOutcome, TaskBoard } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import { blankTriggers, type Triggers } from '../triggers.ts';
import { clipIdOf, newTaskId, placeOfClip } from './clip-id.ts';
import type { MusicRequest } from './music-request.ts';
import type { FinishedClip, SigmaJob, SigmaOutput, SigmaTask } from './music-task.ts';
import { retentionMs, workOnSigma } from './music-work.ts';
import { continueSong, planSongs, planStems, type SongOptions, type SourceClip } from './plan-clips.ts';
import { unknownClip } from './sigma-error.ts';

/** A clip of a task. */
interface Clip {
  task: SigmaTask;
  /** Counts from 0. */
  index: number;
  /** When it is complete. */
  finished: FinishedClip | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** The music and lyrics tasks, and their clips. */
export class MusicTasks {
  readonly #tasks: TaskBoard<SigmaJob, SigmaOutput, SigmaJob>;
  readonly #options: SongOptions;

  constructor(services: TaskServices, options: SongOptions) {
    this.#options = options;
    this.#tasks = new TaskBoard({
      ...services,
      name: 'sigma',
      retentionMs,
      work: (job, triggers) => workOnSigma(services, job, triggers),
    });
  }

  find(id: string): SigmaTask | undefined {
    return this.#tasks.find(id);
  }

  /** By the id of a clip, or by that of a task, whose first clip is meant. */
  findClip(id: string): Clip | undefined {
    const { taskId = '', index = 0 } = placeOfClip(id) ?? {};
    const task = this.#tasks.find(taskId);
    if (task?.request.action !== 'MUSIC' || index >= task.request.clips.length) return undefined;
    const stage = task.stage();
    if (stage.name !== 'succeeded' || stage.output.action !== 'MUSIC')
      return { task, index, finished: undefined, expiresAt: 0 };
    return { task, index, finished: stage.output.clips[index], expiresAt: stage.output.expiresAt };
  }

  /** These two return the id of the task. Throws a `NativeError` 400, also for a source that is not there. */
  addMusic(request: MusicRequest, triggers: Triggers): string {
    return this.#add(this.#planMusic(request), triggers);
  }

  addLyrics(prompt: string, triggers: Triggers): string {
    return this.#add({ action: 'LYRICS', prompt: blankTriggers(prompt) }, triggers);
  }

  #planMusic(request: MusicRequest): SigmaJob {
    const { continueClipId, task } = request;
    if (continueClipId === undefined) return planSongs(request, this.#options);
    const source = this.#sourceOf(continueClipId);
    return task === 'gen_stem' ? planStems(request, source) : continueSong(request, source, this.#options);
  }

  #sourceOf(id: string): SourceClip {
    const { task, index, finished } = this.findClip(id) ?? {};
    if (task?.request.action !== 'MUSIC' || index === undefined) throw unknownClip();
    const plan = task.request.clips[index];
    if (!finished || !plan) throw new NativeError(400, 'clip_not_ready', 'The clip is not complete');
    return { id: clipIdOf(task.id, index), plan, finished, tags: task.request.tags };
  }

  #add(job: SigmaJob, triggers: Triggers): string {
    return this.#tasks.add({ id: newTaskId(), request: job, triggers, fate: fateOf(triggers), job }).id;
  }
}

function fateOf(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('sensitive'))
    return { code: 'moderation_failure', message: 'The song may contain inappropriate content' };
  if (triggers.has('fail-late'))
    return { code: 'internal_error', message: 'The task failed inside the service' };
  return undefined;
}
