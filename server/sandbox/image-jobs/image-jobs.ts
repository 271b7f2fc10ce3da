import { randomInt, randomUUID } from 'node:crypto';
import type { MediaEngine } from '../media/engine.ts';
import { withoutOptions } from '../media/scenes/prompt-words.ts';
import type { SceneImage } from '../media/scenes/scene.ts';
import { hourMs } from '../tasks/protocol.ts';
import { type ForcedOutcome, type Task, TaskBoard } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import type { Triggers } from '../triggers.ts';
import { type ButtonEffect, createButtons } from './buttons.ts';
import type { Action, Drawing, ImageJob } from './image-job.ts';
import {
  type ActionRequest,
  type ImagineRequest,
  type ModalRequest,
  readRatio,
  readSeed,
  readZoom,
} from './image-requests.ts';
import { imageSize, inpaint, pan, planGrid, planImage, vary, zoomOut } from './plan-images.ts';
import { loadMask, readReferences } from './read-images.ts';
import { codes, createInvalidError, SubmitError } from './submit-reply.ts';
import { type WaitingJob, WaitingJobs } from './waiting-jobs.ts';

export type ImageTask = Task<ImageJob, { url: string }>;

const retentionMs = 24 * hourMs;
/** Maximum number of layers, because a derived image draws all scenes of its source. */
const maxLayers = 32;

export interface ImageJobsOptions extends TaskServices {
  /** Side of a square image in a grid, in pixels. */
  side: number;
}

/** All image jobs: those that wait for a prompt, and those that are running or finished. */
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

  /** Returns the id of the task. This and the next two methods throw a `SubmitError` or a `NativeError` 400. */
  async imagine({ prompt, state, references }: ImagineRequest, triggers: Triggers): Promise<string> {
    const [ratio, seed] = [readRatio(prompt), readSeed(prompt)];
    const images = await readReferences(this.#engine, references);
    const drawing = planGrid({ prompt, references: images }, ratio, seed);
    const description = `/imagine ${prompt}`;
    return this.#add({ ...this.#createJob('IMAGINE', { prompt, description, state }), drawing }, triggers);
  }

  /** `waits`: the task requires a modal request. */
  act({ taskId, customId, state }: ActionRequest, triggers: Triggers): { id: string; isWaiting: boolean } {
    const task = this.#tasks.find(taskId);
    if (!task && !this.#waiting.find(taskId)) throw createNotFoundError(taskId);
    if (task?.stage().name !== 'succeeded') throw createInvalidError('The task has not succeeded');
    const { request } = task;
    const button = createButtons(request).find((candidate) => candidate.customId === customId);
    if (!button) throw createInvalidError('customId is not a button of the task');
    const [action, verb] = actionFor(button.effect);
    const description = `/${verb} ${taskId}`;
    const job = this.#createJob(action, { prompt: request.prompt, description, state, customId });
    if (button.effect.kind === 'inpaint' || button.effect.kind === 'custom-zoom')
      return { id: this.#addWaiting(job, request.drawing, button.effect.kind), isWaiting: true };
    return {
      id: this.#add({ ...job, drawing: planEffect(request.drawing, button.effect) }, triggers),
      isWaiting: false,
    };
  }

  async modal({ taskId, prompt, mask, state }: ModalRequest, triggers: Triggers): Promise<string> {
    const waiting = this.#requireWaiting(taskId);
    const { job, ratio, scale } = waiting;
    const finalPrompt = prompt.trim() === '' ? job.prompt : prompt;
    const image = await this.#planModal(waiting, finalPrompt, mask);
    // A concurrent request may have started the task in the meantime.
    this.#requireWaiting(taskId);
    const drawing = { pictures: [image], ratio, scale };
    const finished = { ...job, prompt: finalPrompt, drawing, ...(state !== undefined && { state }) };
    this.#add(finished, triggers, taskId);
    this.#waiting.remove(taskId);
    return taskId;
  }

  #requireWaiting(id: string): WaitingJob {
    // After a kill, a task can be in both collections. It is then no longer waiting.
    if (this.#tasks.find(id)) throw createInvalidError('The task is not waiting for a prompt');
    const waiting = this.#waiting.find(id);
    if (!waiting) throw createNotFoundError(id);
    return waiting;
  }

  async #planModal(
    { of, source, ratio, scale, job }: WaitingJob,
    prompt: string,
    mask: string | undefined,
  ): Promise<SceneImage> {
    if (of === 'inpaint') {
      const size = imageSize({ ratio, scale }, this.#options.side);
      return inpaint(source, prompt, await loadMask(this.#engine, mask, size));
    }
    const isNew = withoutOptions(prompt) !== withoutOptions(job.prompt);
    return zoomOut(source, readZoom(prompt), isNew ? prompt : undefined);
  }

  #addWaiting(job: WaitingJob['job'], { pictures, ratio, scale }: Drawing, of: WaitingJob['of']): string {
    const [source] = pictures;
    if (!source || source.layers.length >= maxLayers)
      throw createInvalidError(`The image has the maximum of ${maxLayers} layers`);
    const id = this.#createId();
    // An inpainted image keeps its size. A wider view is a new image.
    this.#waiting.add(id, { job, of, source, ratio, scale: of === 'inpaint' ? scale : 2 });
    return id;
  }

  #createJob(
    action: Action,
    job: Pick<ImageJob, 'prompt' | 'description' | 'state'> & { customId?: string },
  ): WaitingJob['job'] {
    return { customId: undefined, ...job, action, submittedAt: this.#options.now(), hash: randomUUID() };
  }

  #add(request: ImageJob, triggers: Triggers, id = this.#createId()): string {
    return this.#tasks.add({ id, request, triggers, fate: forcedOutcome(triggers), job: request.drawing }).id;
  }

  #createId(): string {
    return `${this.#options.now()}${randomInt(100_000, 1_000_000)}`;
  }

  async #draw(drawing: Drawing, triggers: Triggers) {
    const { results, side } = this.#options;
    const { pictures } = drawing;
    const png = await this.#engine.run('renderImages', { images: pictures, size: imageSize(drawing, side) });
    return (endedAt: number) => {
      const expiresAt = triggers.has('expired-url') ? 1 : endedAt + retentionMs;
      return { url: results.storeAndSign(png, 'png', expiresAt) };
    };
  }
}

type ImmediateEffect = Exclude<ButtonEffect, { kind: 'inpaint' | 'custom-zoom' }>;

function planEffect({ pictures, ratio, origin }: Drawing, effect: ImmediateEffect): Drawing {
  const image = pictures['index' in effect ? effect.index : 0];
  if (!image) throw createInvalidError('The task has no such image');
  switch (effect.kind) {
    case 'upscale':
      return planImage(image, ratio);
    case 'finer':
      return planImage(vary(image, effect.strength), ratio, 4);
    case 'variation':
      return planGrid({ picture: image, strength: effect.strength }, ratio);
    case 'reroll':
      return planGrid(origin ?? { picture: image, strength: 1 }, ratio);
    case 'zoom':
      return planImage(zoomOut(image, effect.factor), ratio);
    case 'pan':
      return planImage(pan(image, effect), ratio);
  }
}

/** Returns the action of a task and its verb in the description. */
function actionFor({ kind }: ButtonEffect): [Action, string] {
  const names: Record<ButtonEffect['kind'], [Action, string]> = {
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

function forcedOutcome(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('sensitive')) return { code: 'sensitive', message: 'The image may be unsuitable' };
  if (triggers.has('fail-late')) return { code: 'failure', message: 'The task failed inside the service' };
  return undefined;
}

function createNotFoundError(id: string): SubmitError {
  return new SubmitError(codes.notFound, `Task ${id.slice(0, 100)} does not exist`);
}
