import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { Failure } from '../../server/lib/failure.ts';
import { exampleOf, ownAddress, rewritten, withModel } from './examples.ts';

export type Stage = 'queued' | 'running' | 'done' | 'failed' | 'canceled';

export interface MockTask {
  readonly id: string;
  readonly operation: OperationId;
  readonly body: JsonObject;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  canceledAt?: number;
}

/** How a task looks at a stage: a documented example, and what differs from it. */
type Look = readonly [example: string, change?: Change];

/** Values to set, at any depth; `undefined` takes one out. */
interface Change {
  [field: string]: Json | Change | undefined;
}

interface Journey {
  /** The id that stands in the examples. */
  id: string;
  /** The poll that shows it. */
  read: OperationId;
  looks: Readonly<Partial<Record<Stage, (task: MockTask) => Look>>>;
  /** Another poll that shows the task too. */
  also?: Journey;
}

const taskId = 'task_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const musicId = '3f1c2a9be08d47a1';
const lyricsId = '8d47a1b5c6d7e8f9';
const imageId = 'task_1b2c3d4e5f60718293a4b5c6d7e8f90a';

const isSeedance = (task: MockTask) => /^(epsilon|zeta)-/.test(modelOf(task));
const family = (task: MockTask) => {
  if (isSeedance(task)) return 'seedance';
  return modelOf(task).startsWith('eta-') ? 'eta' : 'gamma';
};

const videos: Journey = {
  id: taskId,
  read: 'getVideo',
  looks: {
    queued: () => ['queued'],
    running: () => ['queued', { status: 'in_progress', progress: 50 }],
    done: (task) => [`${family(task)}_completed`],
    failed: () => ['failed'],
  },
};
const generations: Journey = {
  id: taskId,
  read: 'getGenericVideo',
  looks: {
    queued: (task) =>
      isSeedance(task)
        ? ['seedance_running', { data: { status: 'QUEUED', progress: '10%', start_time: 0 } }]
        : ['gamma_failed', { status: 'queued', progress: 0, error: null, completed_at: undefined }],
    running: (task) =>
      isSeedance(task)
        ? ['seedance_running']
        : ['gamma_failed', { status: 'in_progress', progress: 50, error: null, completed_at: undefined }],
    done: (task) => [isSeedance(task) ? 'seedance_succeeded' : 'gamma_completed'],
    failed: (task) => [isSeedance(task) ? 'seedance_failed' : 'gamma_failed'],
  },
};
const native: Journey = {
  id: taskId,
  read: 'getNativeTask',
  looks: {
    queued: () => ['pending'],
    running: () => ['running'],
    done: ({ operation }) => [operation === 'createModel3d' ? 'model3d_succeeded' : 'video_succeeded'],
    failed: () => ['failed'],
    canceled: () => ['canceled'],
  },
};
const official: Journey = {
  id: taskId,
  read: 'getOfficialVideo',
  looks: {
    queued: () => ['queued'],
    running: () => ['queued', { status: 'running' }],
    done: () => ['succeeded'],
    failed: () => ['failed'],
    canceled: () => ['queued', { status: 'cancelled' }],
  },
};
const assets: Journey = {
  id: 'asset-20260301120000-k3v9q',
  read: 'getAsset',
  looks: {
    queued: () => ['processing'],
    running: () => ['processing'],
    done: () => ['active'],
    failed: () => ['failed'],
  },
};
const unfinished = { fail_reason: '', finish_time: 0, data: [] };
const unwritten = { ...unfinished, data: null };
const music: Journey = {
  id: musicId,
  read: 'fetchMusicTask',
  looks: {
    queued: () => ['failed', { data: { ...unfinished, status: 'QUEUED', progress: '0%', start_time: 0 } }],
    running: () => ['failed', { data: { ...unfinished, status: 'IN_PROGRESS', progress: '50%' } }],
    done: () => ['music'],
    failed: () => ['failed'],
  },
};
const lyrics: Journey = {
  ...music,
  id: lyricsId,
  looks: {
    ...music.looks,
    queued: () => ['lyrics', { data: { ...unwritten, status: 'QUEUED', progress: '0%', start_time: 0 } }],
    running: () => ['lyrics', { data: { ...unwritten, status: 'IN_PROGRESS', progress: '50%' } }],
    done: () => ['lyrics'],
    failed: () => [
      'lyrics',
      { data: { status: 'FAILURE', fail_reason: 'The prompt was refused.', data: null } },
    ],
  },
};
const formatAMusic: Journey = {
  id: musicId,
  read: 'getMusic',
  looks: {
    queued: () => ['finished', { data: { status: 'QUEUED', clips: {} } }],
    running: () => ['finished', { data: { status: 'IN_PROGRESS', clips: {} } }],
    done: () => ['finished'],
    failed: () => [
      'finished',
      { data: { status: 'FAILURE', fail_reason: 'The prompt was refused.', clips: {} } },
    ],
  },
};
/** Music is read in both formats, whichever it was asked for in. */
const formatBMusic: Journey = { ...music, also: formatAMusic };
const unmade = { finishTime: 0, imageUrl: '', buttons: [] };
const imageJobs: Journey = {
  id: imageId,
  read: 'fetchImageJob',
  looks: {
    queued: () => ['finished', { ...unmade, status: 'SUBMITTED', progress: '0%' }],
    running: () => ['finished', { ...unmade, status: 'IN_PROGRESS', progress: '50%' }],
    done: () => ['finished'],
    failed: () => ['finished', { ...unmade, status: 'FAILURE', failReason: 'The picture was refused.' }],
  },
};
const verification: Journey = {
  id: 'vs_5c6d7e8f9a0b',
  read: 'getVerificationSession',
  looks: {
    queued: () => ['verified', { data: { status: 'pending', group_id: '', result_code: undefined } }],
    running: () => ['verified', { data: { status: 'pending', group_id: '', result_code: undefined } }],
    done: () => ['verified'],
    failed: () => ['failed'],
  },
};

/** By the operation that makes the task. */
export const journeys: ReadonlyMap<OperationId, Journey> = new Map([
  ['createVideo', videos],
  ['createGenericVideo', generations],
  ['createNativeVideo', native],
  ['createModel3d', native],
  ['createOfficialVideo', official],
  ['uploadAsset', assets],
  ['submitMusic', formatBMusic],
  ['submitLyrics', lyrics],
  ['createMusic', { ...formatAMusic, also: music }],
  ['submitImageAction', imageJobs],
  ['submitImageModal', imageJobs],
  ['createVerificationSession', verification],
] satisfies [OperationId, Journey][]);

/** The tasks that were made, in memory. They move on by the clock: a fifth of their time in the queue, then at work. */
export class MockTasks {
  readonly #tasks = new Map<string, MockTask>();
  readonly #now: () => number;
  readonly #taskMs: number;

  constructor({ now, taskMs }: { now: () => number; taskMs: number }) {
    this.#now = now;
    this.#taskMs = taskMs;
  }

  /** Makes a task and gives the answer to the request: a documented one, with the new task's id. */
  create(operation: OperationId, body: JsonObject, created: Json, base: string): Json {
    const journey = journeyOf(operation);
    const id = newId(journey.id, this.#now());
    const task: MockTask = { id, operation, body, createdAt: this.#now() };
    this.#tasks.set(id, task);
    return this.#written(created, journey, task, base);
  }

  /** A task that this poll shows; undefined when it was not made here. */
  find(read: OperationId, id: string): MockTask | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && journeyOf(task.operation, read) !== undefined ? task : undefined;
  }

  /** The tasks that this poll shows, newest first. */
  list(read: OperationId): MockTask[] {
    const shown = [...this.#tasks.values()].filter(({ operation }) => journeyOf(operation, read));
    return shown.reverse();
  }

  remove(id: string): void {
    this.#tasks.delete(id);
  }

  /** Takes a task out of the queue; false when it is not in it any more. */
  cancel(task: MockTask): boolean {
    if (this.stage(task) !== 'queued') return false;
    task.canceledAt = this.#now();
    return true;
  }

  /** A prompt with `[[fail-late]]` in it, as for the gateway's sandbox, makes a task fail at its end. */
  stage(task: MockTask): Stage {
    if (task.canceledAt !== undefined) return 'canceled';
    const share = (this.#now() - task.createdAt) / this.#taskMs;
    if (share < 0.2) return 'queued';
    if (share < 1) return 'running';
    return JSON.stringify(task.body).includes('[[fail-late]]') ? 'failed' : 'done';
  }

  /** The task as that poll shows it now. */
  show(task: MockTask, base: string, read: OperationId = journeyOf(task.operation).read): Json {
    const journey = journeyOf(task.operation, read);
    if (journey === undefined) throw new Error(`${read} does not show what ${task.operation} makes`);
    const stage = this.stage(task);
    const look = journey.looks[stage] ?? journey.looks.done;
    if (look === undefined) throw new Error(`${task.operation} has no ${stage}`);
    const [name, change = {}] = look(task);
    const example = exampleOf(journey.read, name);
    return this.#written(isObject(example) ? merged(example, change) : example, journey, task, base);
  }

  #written(answer: Json, journey: Journey, task: MockTask, base: string): Json {
    const ids = (text: string) => ownAddress(text.replaceAll(journey.id, task.id), base);
    const now = this.#now();
    const endedAt = Math.min(now, task.createdAt + this.#taskMs);
    const moments = { created: task.createdAt, started: task.createdAt + this.#taskMs / 5, ended: endedAt };
    const shown = rewritten(answer, ids, (key, value) => atMoment(key, value, moments));
    return isObject(shown) ? withRequested(shown, task.body) : shown;
  }
}

function journeyOf(operation: OperationId): Journey;
/** Undefined when that poll does not show it. */
function journeyOf(operation: OperationId, read: OperationId): Journey | undefined;
function journeyOf(operation: OperationId, read?: OperationId): Journey | undefined {
  const journey = journeys.get(operation);
  if (journey === undefined) throw new Error(`${operation} makes no task`);
  if (read === undefined || journey.read === read) return journey;
  return journey.also?.read === read ? journey.also : undefined;
}

const modelOf = ({ body }: MockTask): string => (typeof body.model === 'string' ? body.model : '');

/** An id of the form that the examples have: its digits and letters by chance, where it has no time in it. */
function newId(like: string, now: number): string {
  const random = randomUUID().replaceAll('-', '');
  if (like.startsWith('asset-')) {
    const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
    return `asset-${stamp}-${random.slice(0, 5)}`;
  }
  if (/^\d+$/.test(like)) return `${now}${Number.parseInt(random.slice(0, 6), 16) % 1000}`.padEnd(16, '0');
  const prefix = /^[a-z]+_/.exec(like)?.[0] ?? '';
  return prefix + random.slice(0, like.length - prefix.length);
}

/** What the task repeats of its request, where the example has a value of that name. */
function withRequested(answer: JsonObject, body: JsonObject): Json {
  const { seconds, size, ...rest } = answer;
  const repeated = {
    ...rest,
    ...(seconds !== undefined && { seconds: typeof body.seconds === 'string' ? body.seconds : seconds }),
    ...(size !== undefined && { size: typeof body.size === 'string' ? body.size : size }),
  };
  return withModel(repeated, body.model);
}

/** Fields of a change replace those of the answer, object by object; an empty object replaces one as a whole. */
function merged(answer: JsonObject, change: Change): JsonObject {
  const result: JsonObject = { ...answer };
  for (const [key, value] of Object.entries(change)) {
    const now = result[key];
    if (value === undefined) delete result[key];
    else if (isChange(value) && isObject(now) && Object.keys(value).length > 0)
      result[key] = merged(now, value);
    else result[key] = value as Json;
  }
  return result;
}

const isChange = (value: unknown): value is Change => isObject(value);

interface Moments {
  created: number;
  started: number;
  ended: number;
}

const day = 24 * 60 * 60 * 1000;
const momentOf: Readonly<Record<string, (moments: Moments) => number>> = Object.fromEntries([
  ...['created_at', 'submit_time', 'submitTime', 'CreateTime'].map((key) => [
    key,
    ({ created }: Moments) => created,
  ]),
  ...['start_time', 'startTime', 'scheduled_time'].map((key) => [key, ({ started }: Moments) => started]),
  ...['updated_at', 'completed_at', 'finish_time', 'finishTime', 'end_time', 'UpdateTime'].map((key) => [
    key,
    ({ ended }: Moments) => ended,
  ]),
  ['expires_at', ({ ended }: Moments) => ended + day],
]);

/** A time in the form that the example has it in; a time that has not come is 0. */
function atMoment(key: string, value: Json, moments: Moments): Json {
  const at = momentOf[key]?.(moments);
  if (at === undefined || value === 0 || value === null) return value;
  if (typeof value === 'number') return value > 1e11 ? Math.round(at) : Math.floor(at / 1000);
  if (typeof value !== 'string') return value;
  const iso = new Date(at).toISOString();
  if (value.includes(' ')) return iso.replace('T', ' ').replace('Z', '');
  return value.endsWith('Z') ? `${iso.slice(0, 19)}Z` : `${iso.slice(0, 19)}+00:00`;
}

/** 404 in the words of the gateway. */
export function unknown(field: string, id: string): Failure {
  return new Failure(
    404,
    'resource_not_found',
    `${field}: there is no ${JSON.stringify(id.slice(0, 100))} here.`,
  );
}
