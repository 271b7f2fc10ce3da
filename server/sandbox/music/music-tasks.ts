import { NativeError } from '../http/native-error.ts';
import { type ForcedOutcome, TaskBoard } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import { blankTriggers, type Triggers } from '../triggers.ts';
import { createClipId, createTaskId, parseClipId } from './clip-id.ts';
import type { MusicRequest } from './music-request.ts';
import type { FinishedClip, SigmaJob, SigmaOutput, SigmaTask } from './music-task.ts';
import { retentionMs, runSigmaJob } from './music-work.ts';
import { continueSong, planSongs, planStems, type SongOptions, type SourceClip } from './plan-clips.ts';
import { createClipNotFoundError } from './sigma-error.ts';

/** A clip of a task. */
interface Clip {
  task: SigmaTask;
  /** Starts at 0. */
  index: number;
  /** Set if the clip is complete. */
  finished: FinishedClip | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** The music and lyrics tasks with their clips. */
export class MusicTasks {
  readonly #tasks: TaskBoard<SigmaJob, SigmaOutput, SigmaJob>;
  readonly #options: SongOptions;

  constructor(services: TaskServices, options: SongOptions) {
    this.#options = options;
    this.#tasks = new TaskBoard({
      ...services,
      name: 'sigma',
      retentionMs,
      work: (job, triggers) => runSigmaJob(services, job, triggers),
    });
  }

  find(id: string): SigmaTask | undefined {
    return this.#tasks.find(id);
  }

  /** Finds a clip by its id. The id of a task refers to its first clip. */
  findClip(id: string): Clip | undefined {
    const { taskId = '', index = 0 } = parseClipId(id) ?? {};
    const task = this.#tasks.find(taskId);
    if (task?.request.action !== 'MUSIC' || index >= task.request.clips.length) return undefined;
    const stage = task.stage();
    if (stage.name !== 'succeeded' || stage.output.action !== 'MUSIC')
      return { task, index, finished: undefined, expiresAt: 0 };
    return { task, index, finished: stage.output.clips[index], expiresAt: stage.output.expiresAt };
  }

  /** Both methods return the id of the task. They throw a `NativeError` 400, also if the source does not exist. */
  addMusic(request: MusicRequest, triggers: Triggers): string {
    return this.#add(this.#planMusic(request), triggers);
  }

  addLyrics(prompt: string, triggers: Triggers): string {
    return this.#add({ action: 'LYRICS', prompt: blankTriggers(prompt) }, triggers);
  }

  #planMusic(request: MusicRequest): SigmaJob {
    const { continueClipId, task } = request;
    if (continueClipId === undefined) return planSongs(request, this.#options);
    const source = this.#findSource(continueClipId);
    return task === 'gen_stem' ? planStems(request, source) : continueSong(request, source, this.#options);
  }

  #findSource(id: string): SourceClip {
    const { task, index, finished } = this.findClip(id) ?? {};
    if (task?.request.action !== 'MUSIC' || index === undefined) throw createClipNotFoundError();
    const plan = task.request.clips[index];
    if (!finished || !plan) throw new NativeError(400, 'clip_not_ready', 'The clip is not complete');
    return { id: createClipId(task.id, index), plan, finished, tags: task.request.tags };
  }

  #add(job: SigmaJob, triggers: Triggers): string {
    return this.#tasks.add({ id: createTaskId(), request: job, triggers, fate: forcedOutcome(triggers), job })
      .id;
  }
}

function forcedOutcome(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('sensitive'))
    return { code: 'moderation_failure', message: 'The song may contain inappropriate content' };
  if (triggers.has('fail-late'))
    return { code: 'internal_error', message: 'The task failed inside the service' };
  return undefined;
}
