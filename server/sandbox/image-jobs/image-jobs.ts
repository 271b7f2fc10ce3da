import { randomInt, randomUUID } from 'node:crypto';
import type { MediaEngine } from '../media/engine.ts';
import { withoutSwitches } from '../media/scenes/prompt-words.ts';
import type { Picture } from '../media/scenes/scene.ts';
import { hourMs } from '../tasks/protocol.ts';
import { type ForcedOutcome, type Task, TaskBoard } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import type { Triggers } from '../triggers.ts';
import { type Act, buttonsOf } from './buttons.ts';
import { pan, planGrid, planPicture, repaint, sizeOf, vary, zoomOut } from './draw-plans.ts';
import type { Action, Drawing, ImageJob } from './image-job.ts';
import {
  type ActionRequest,
  type ImagineRequest,
  type ModalRequest,
  ratioOf,
  seedIn,
  zoomOf,
} from './image-requests.ts';
import { loadMask, readReferences } from './read-pictures.ts';
import { codes, SubmitRefusal, wrong } from './submit-reply.ts';
import { type WaitingJob, WaitingJobs } from './waiting-jobs.ts';

export type ImageTask = Task<ImageJob, { url: string }>;

const retentionMs = 24 * hourMs;
/** Each scene over another one is drawn anew in every picture that comes from it. */
const maxLayers = 32;

export interface ImageJobsOptions extends TaskServices {
  /** Pixels of the side of a square picture in a grid. */
  side: number;
}

/** All image jobs: those that wait for their prompt, and those at work or done. */
export class ImageJobs {
  readonly #options: ImageJobsOptions;
  readonly #engine: MediaEngine;
  readonly #tasks: TaskBoard<ImageJob, { url: string }, Drawing>;
  readonly #waiting: WaitingJobs;

  constructor(options: ImageJobsOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#tasks = new TaskBoard({
      ...options,
      name: 'image',
      retentionMs,
      work: (drawing, triggers) => this.#draw(drawing, triggers),
    });
    this.#waiting = new WaitingJobs({ ...options, retentionMs });
  }

  find(id: string): ImageTask | WaitingJob | undefined {
    return this.#tasks.find(id) ?? this.#waiting.find(id);
  }

  /** Returns the id of the task. This and the next two throw a `SubmitRefusal` or a `NativeError` 400. */
  async imagine({ prompt, state, references }: ImagineRequest, triggers: Triggers): Promise<string> {
    const [ratio, seed] = [ratioOf(prompt), seedIn(prompt)];
    const pictures = await readReferences(this.#engine, references);
    const drawing = planGrid({ prompt, references: pictures }, ratio, seed);
    const description = `/imagine ${prompt}`;
    return this.#add({ ...this.#newJob('IMAGINE', { prompt, description, state }), drawing }, triggers);
  }

  /** `waits`: the task needs the modal call. */
  act({ taskId, customId, state }: ActionRequest, triggers: Triggers): { id: string; waits: boolean } {
    const task = this.#tasks.find(taskId);
    if (!task && !this.#waiting.find(taskId)) throw unknown(taskId);
    if (task?.stage().name !== 'succeeded') throw wrong('The task has not succeeded');
    const { request } = task;
    const button = buttonsOf(request).find((candidate) => candidate.customId === customId);
    if (!button) throw wrong('customId is not among the buttons of the task');
    const [action, what] = nameOf(button.act);
    const description = `/${what} ${taskId}`;
    const job = this.#newJob(action, { prompt: request.prompt, description, state, customId });
    if (button.act.kind === 'inpaint' || button.act.kind === 'custom-zoom')
      return { id: this.#wait(job, request.drawing, button.act.kind), waits: true };
    return {
      id: this.#add({ ...job, drawing: planAct(request.drawing, button.act) }, triggers),
      waits: false,
    };
  }

  async modal({ taskId, prompt, mask, state }: ModalRequest, triggers: Triggers): Promise<string> {
    const waiting = this.#waitingFor(taskId);
    const { job, ratio, scale } = waiting;
    const wanted = prompt.trim() === '' ? job.prompt : prompt;
    const picture = await this.#planModal(waiting, wanted, mask);
    // Another call may have been quicker.
    this.#waitingFor(taskId);
    const drawing = { pictures: [picture], ratio, scale };
    const finished = { ...job, prompt: wanted, drawing, ...(state !== undefined && { state }) };
    this.#add(finished, triggers, taskId);
    this.#waiting.remove(taskId);
    return taskId;
  }

  #waitingFor(id: string): WaitingJob {
    // After a kill in between a task may be in both places; then it waits no more.
    if (this.#tasks.find(id)) throw wrong('The task does not wait for a prompt');
    const waiting = this.#waiting.find(id);
    if (!waiting) throw unknown(id);
    return waiting;
  }

  async #planModal(
    { of, source, ratio, scale, job }: WaitingJob,
    prompt: string,
    mask: string | undefined,
  ): Promise<Picture> {
    if (of === 'inpaint') {
      const size = sizeOf({ ratio, scale }, this.#options.side);
      return repaint(source, prompt, await loadMask(this.#engine, mask, size));
    }
    const isNew = withoutSwitches(prompt) !== withoutSwitches(job.prompt);
    return zoomOut(source, zoomOf(prompt), isNew ? prompt : undefined);
  }

  #wait(job: WaitingJob['job'], { pictures, ratio, scale }: Drawing, of: WaitingJob['of']): string {
    const [source] = pictures;
    if (!source || source.layers.length >= maxLayers)
      throw wrong(`The picture has been painted over ${maxLayers} times and takes no more`);
    const id = this.#newId();
    // What is painted over keeps its pixels; a wider view is a new picture.
    this.#waiting.add(id, { job, of, source, ratio, scale: of === 'inpaint' ? scale : 2 });
    return id;
  }

  #newJob(
    action: Action,
    job: Pick<ImageJob, 'prompt' | 'description' | 'state'> & { customId?: string },
  ): WaitingJob['job'] {
    return { customId: undefined, ...job, action, submittedAt: this.#options.now(), hash: randomUUID() };
  }

  #add(request: ImageJob, triggers: Triggers, id = this.#newId()): string {
    return this.#tasks.add({ id, request, triggers, fate: fateOf(triggers), job: request.drawing }).id;
  }

  #newId(): string {
    return `${this.#options.now()}${randomInt(100_000, 1_000_000)}`;
  }

  async #draw(drawing: Drawing, triggers: Triggers) {
    const { results, side } = this.#options;
    const { pictures } = drawing;
    const png = await this.#engine.run('renderPictures', { pictures, size: sizeOf(drawing, side) });
    return (endedAt: number) => {
      const expiresAt = triggers.has('expired-url') ? 1 : endedAt + retentionMs;
      return { url: results.storeAndSign(png, 'png', expiresAt) };
    };
  }
}

type ImmediateAct = Exclude<Act, { kind: 'inpaint' | 'custom-zoom' }>;

function planAct({ pictures, ratio, origin }: Drawing, act: ImmediateAct): Drawing {
  const picture = pictures['index' in act ? act.index : 0];
  if (!picture) throw wrong('The task has no such picture');
  switch (act.kind) {
    case 'upscale':
      return planPicture(picture, ratio);
    case 'finer':
      return planPicture(vary(picture, act.strength), ratio, 4);
    case 'variation':
      return planGrid({ picture, strength: act.strength }, ratio);
    case 'reroll':
      return planGrid(origin ?? { picture, strength: 1 }, ratio);
    case 'zoom':
      return planPicture(zoomOut(picture, act.factor), ratio);
    case 'pan':
      return planPicture(pan(picture, act), ratio);
  }
}

/** The action that a task shows, and its word in the description. */
function nameOf({ kind }: Act): [Action, string] {
  const names: Record<Act['kind'], [Action, string]> = {
    upscale: ['UPSCALE', 'upscale'],
    finer: ['UPSCALE', 'upscale'],
    variation: ['VARIATION', 'vary'],
    reroll: ['REROLL', 'reroll'],
    zoom: ['ZOOM', 'zoom'],
    'custom-zoom': ['ZOOM', 'zoom'],
    pan: ['PAN', 'pan'],
    inpaint: ['INPAINT', 'inpaint'],
  };
  return names[kind];
}

function fateOf(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('sensitive')) return { code: 'sensitive', message: 'The picture may be unsuitable' };
  if (triggers.has('fail-late')) return { code: 'failure', message: 'The task failed inside the service' };
  return undefined;
}

function unknown(id: string): SubmitRefusal {
  return new SubmitRefusal(codes.notFound, `There is no task ${id.slice(0, 100)}`);
}
