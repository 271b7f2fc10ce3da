import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject, text } from '../../openapi/tools/document.ts';
import type { Repetition } from '../../server/calls/repetition.ts';
import { type Failure, notFound as noResource } from '../../server/lib/failure.ts';
import { quoted } from '../../server/models/catalogue.ts';
import { exampleOf, localUrl, mapValues, withModel } from './examples.ts';
import { RepeatedRequests } from './repeated-requests.ts';

export type Stage = 'queued' | 'running' | 'done' | 'failed' | 'canceled';

export interface MockTask {
  readonly id: string;
  readonly operation: OperationId;
  readonly body: JsonObject;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  canceledAt?: number;
}

/** The response at a stage: a documented example with changes. */
type StageExample = readonly [example: string, change?: Change];

/** Values to set at any depth. `undefined` removes a field. */
interface Change {
  [field: string]: Json | Change | undefined;
}

interface TaskKind {
  /** The id in the examples. */
  id: string;
  /** Returns the fields of the response that repeat fields of the request. */
  repeated?: (body: JsonObject) => JsonObject;
  /** The operation that polls it. */
  read: OperationId;
  stages: Readonly<Partial<Record<Stage, (task: MockTask) => StageExample>>>;
  /** A second operation that polls it. */
  alternative?: TaskKind;
  /** The kind in whose format callbacks show it. Default: its own. */
  callback?: TaskKind;
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

const official: TaskKind = {
  id: taskId,
  read: 'getOfficialVideo',
  stages: {
    queued: () => ['queued'],
    running: () => ['queued', { status: 'running' }],
    done: () => ['succeeded'],
    failed: () => ['failed'],
    canceled: () => ['queued', { status: 'cancelled' }],
  },
};
const videos: TaskKind = {
  id: taskId,
  read: 'getVideo',
  callback: official,
  stages: {
    queued: () => ['queued'],
    running: () => ['queued', { status: 'in_progress', progress: 50 }],
    done: (task) => [`${family(task)}_completed`],
    failed: () => ['failed'],
  },
};
const generations: TaskKind = {
  id: taskId,
  read: 'getGenericVideo',
  callback: official,
  stages: {
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
const native: TaskKind = {
  id: taskId,
  read: 'getNativeTask',
  stages: {
    queued: () => ['pending'],
    running: () => ['running'],
    done: ({ operation }) => [operation === 'createModel3d' ? 'model3d_succeeded' : 'video_succeeded'],
    failed: () => ['failed'],
    canceled: () => ['canceled'],
  },
};
const assets: TaskKind = {
  id: 'asset-20260301120000-k3v9q',
  read: 'getAsset',
  repeated: ({ name = '', asset_type: type }) => ({ Name: name, AssetType: capitalized(text(type)) }),
  stages: {
    queued: () => ['processing'],
    running: () => ['processing'],
    done: () => ['active'],
    failed: () => ['failed'],
  },
};
const unfinishedMusic = { fail_reason: '', finish_time: 0, data: [] };
const unfinishedLyrics = { ...unfinishedMusic, data: null };
const music: TaskKind = {
  id: musicId,
  read: 'fetchMusicTask',
  stages: {
    queued: () => [
      'failed',
      { data: { ...unfinishedMusic, status: 'QUEUED', progress: '0%', start_time: 0 } },
    ],
    running: () => ['failed', { data: { ...unfinishedMusic, status: 'IN_PROGRESS', progress: '50%' } }],
    done: () => ['music'],
    failed: () => ['failed'],
  },
};
const lyrics: TaskKind = {
  ...music,
  id: lyricsId,
  stages: {
    ...music.stages,
    queued: () => [
      'lyrics',
      { data: { ...unfinishedLyrics, status: 'QUEUED', progress: '0%', start_time: 0 } },
    ],
    running: () => ['lyrics', { data: { ...unfinishedLyrics, status: 'IN_PROGRESS', progress: '50%' } }],
    done: () => ['lyrics'],
    failed: () => [
      'lyrics',
      { data: { status: 'FAILURE', fail_reason: 'The prompt was refused.', data: null } },
    ],
  },
};
const formatAMusic: TaskKind = {
  id: musicId,
  read: 'getMusic',
  stages: {
    queued: () => ['finished', { data: { status: 'QUEUED', clips: {} } }],
    running: () => ['finished', { data: { status: 'IN_PROGRESS', clips: {} } }],
    done: () => ['finished'],
    failed: () => [
      'finished',
      { data: { status: 'FAILURE', fail_reason: 'The prompt was refused.', clips: {} } },
    ],
  },
};
/** Music can be read in both formats. */
const formatBMusic: TaskKind = { ...music, alternative: formatAMusic };
const unfinishedImage = { finishTime: 0, imageUrl: '', buttons: [] };
/** Returns the image jobs that end as an example with this id. */
const imageJobs = (finished: string, id: string, repeated: TaskKind['repeated']): TaskKind => ({
  id,
  read: 'fetchImageJob',
  repeated,
  stages: {
    queued: () => [finished, { ...unfinishedImage, status: 'SUBMITTED', progress: '0%' }],
    running: () => [finished, { ...unfinishedImage, status: 'IN_PROGRESS', progress: '50%' }],
    done: () => [finished],
    failed: () => [
      finished,
      { ...unfinishedImage, status: 'FAILURE', failReason: 'The image was rejected.' },
    ],
  },
});
const grids = imageJobs('grid', taskId, ({ prompt = null, state = null }) => ({
  prompt,
  promptEn: prompt,
  finalPrompt: prompt,
  state,
}));
const upscales = imageJobs('finished', imageId, ({ state = null }) => ({ state }));
const verification: TaskKind = {
  id: 'vs_5c6d7e8f9a0b',
  read: 'getVerificationSession',
  stages: {
    queued: () => ['verified', { data: { status: 'pending', group_id: '', result_code: undefined } }],
    running: () => ['verified', { data: { status: 'pending', group_id: '', result_code: undefined } }],
    done: () => ['verified'],
    failed: () => ['failed'],
  },
};

/** Task kinds by the operation that creates them. */
export const taskKinds: ReadonlyMap<OperationId, TaskKind> = new Map([
  ['createVideo', videos],
  ['createGenericVideo', generations],
  ['createNativeVideo', native],
  ['createModel3d', native],
  ['createOfficialVideo', official],
  ['uploadAsset', assets],
  ['submitMusic', formatBMusic],
  ['submitLyrics', lyrics],
  ['createMusic', { ...formatAMusic, alternative: music, callback: music }],
  ['submitImagine', grids],
  ['submitImageAction', upscales],
  ['submitImageModal', upscales],
  ['createVerificationSession', verification],
] satisfies [OperationId, TaskKind][]);

/** Operations whose tasks share idempotency keys, because their tasks have the same format on the gateway. */
const formats: Readonly<Partial<Record<OperationId, string>>> = {
  fetchMusicTask: 'music',
  getMusic: 'music',
};

interface MockTasksOptions {
  now: () => number;
  taskMs: number;
  onCreate?: (task: MockTask, base: string) => void;
}

/** Created tasks, in memory. Their stage depends on the clock: queued for a fifth of their duration, then running. */
export class MockTasks {
  readonly #tasks = new Map<string, MockTask>();
  readonly #now: () => number;
  readonly #taskMs: number;

  readonly #repeated = new RepeatedRequests();
  readonly #onCreate: (task: MockTask, base: string) => void;

  /** `onCreate` is called with the base URL of links. */
  constructor({ now, taskMs, onCreate = () => {} }: MockTasksOptions) {
    this.#now = now;
    this.#taskMs = taskMs;
    this.#onCreate = onCreate;
  }

  /**
   * Creates a task, or finds that of an earlier request that this one repeats. Returns the documented response with its id.
   *
   * @throws Failure 400 if the idempotency key was used for another request
   */
  create(
    operation: OperationId,
    body: JsonObject,
    created: Json,
    base: string,
    repetition: Repetition = {},
  ): Json {
    const kind = taskKindOf(operation);
    const request = { operation, body, format: formats[kind.read] ?? kind.read, ...repetition };
    const createdAt = this.#now();
    const earlier = this.#repeated.find(request, createdAt);
    if (earlier !== undefined) return this.#render(created, kind, earlier, base);
    const task: MockTask = { id: newId(kind.id, createdAt), operation, body, createdAt };
    this.#tasks.set(task.id, task);
    this.#repeated.add(request, task);
    this.#onCreate(task, base);
    return this.#render(created, kind, task, base);
  }

  /** Returns the task with an id if the operation `read` can poll it. */
  find(read: OperationId, id: string): MockTask | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && taskKindOf(task.operation, read) !== undefined ? task : undefined;
  }

  /** Returns the tasks that the operation `read` can poll, newest first. */
  list(read: OperationId): MockTask[] {
    const shown = [...this.#tasks.values()].filter(({ operation }) => taskKindOf(operation, read));
    return shown.reverse();
  }

  remove(id: string): void {
    this.#tasks.delete(id);
  }

  /** Cancels a queued task. Returns false if it is not queued. */
  cancel(task: MockTask): boolean {
    if (this.stage(task) !== 'queued') return false;
    task.canceledAt = this.#now();
    return true;
  }

  /** Returns the stage. A task with `[[fail-late]]` in its prompt fails at its end, as in the sandbox. */
  stage(task: MockTask): Stage {
    if (task.canceledAt !== undefined) return 'canceled';
    const progress = (this.#now() - task.createdAt) / this.#taskMs;
    if (progress < 0.2) return 'queued';
    if (progress < 1) return 'running';
    return this.finalStage(task);
  }

  finalStage({ body }: MockTask): 'done' | 'failed' {
    return JSON.stringify(body).includes('[[fail-late]]') ? 'failed' : 'done';
  }

  /** Returns the body of a callback at a stage. A callback about music contains only the record. */
  showCallback(task: MockTask, base: string, stage: Stage): Json {
    const own = taskKindOf(task.operation);
    const kind = own.callback ?? own;
    const shown = this.#renderStage(task, kind, stage, base);
    return kind.read === 'fetchMusicTask' && isObject(shown) ? (shown.data ?? null) : shown;
  }

  /** Returns the response of the operation `read`. */
  show(task: MockTask, base: string, read: OperationId = taskKindOf(task.operation).read): Json {
    const kind = taskKindOf(task.operation, read);
    if (kind === undefined) throw new Error(`${read} cannot poll tasks of ${task.operation}`);
    return this.#renderStage(task, kind, this.stage(task), base);
  }

  #renderStage(task: MockTask, kind: TaskKind, stage: Stage, base: string): Json {
    const stageExample = kind.stages[stage] ?? kind.stages.done;
    if (stageExample === undefined) throw new Error(`${task.operation} has no ${stage}`);
    const [name, change = {}] = stageExample(task);
    const example = exampleOf(kind.read, name);
    return this.#render(isObject(example) ? mergeChange(example, change) : example, kind, task, base);
  }

  #render(response: Json, kind: TaskKind, task: MockTask, base: string): Json {
    const ids = (text: string) => localUrl(text.replaceAll(kind.id, task.id), base);
    const now = this.#now();
    const endedAt = Math.min(now, task.createdAt + this.#taskMs);
    const times = { created: task.createdAt, started: task.createdAt + this.#taskMs / 5, ended: endedAt };
    const repeated = kind.repeated?.(task.body) ?? {};
    const shown = mapValues(response, ids, (key, value) =>
      Object.hasOwn(repeated, key) ? (repeated[key] ?? null) : timeOf(key, value, times),
    );
    return isObject(shown) ? withRequestFields(shown, task.body) : shown;
  }
}

function taskKindOf(operation: OperationId): TaskKind;
/** Undefined if the operation `read` cannot poll it. */
function taskKindOf(operation: OperationId, read: OperationId): TaskKind | undefined;
function taskKindOf(operation: OperationId, read?: OperationId): TaskKind | undefined {
  const kind = taskKinds.get(operation);
  if (kind === undefined) throw new Error(`${operation} creates no task`);
  if (read === undefined || kind.read === read) return kind;
  return kind.alternative?.read === read ? kind.alternative : undefined;
}

const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();

const modelOf = ({ body }: MockTask): string => (typeof body.model === 'string' ? body.model : '');

/** Returns a random id in the format of an example. */
function newId(example: string, now: number): string {
  const random = randomUUID().replaceAll('-', '');
  if (example.startsWith('asset-')) {
    const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
    return `asset-${stamp}-${random.slice(0, 5)}`;
  }
  if (/^\d+$/.test(example)) return `${now}${Number.parseInt(random.slice(0, 6), 16) % 1000}`.padEnd(16, '0');
  const prefix = /^[a-z]+_/.exec(example)?.[0] ?? '';
  return prefix + random.slice(0, example.length - prefix.length);
}

/** Replaces fields of the example by fields of the request. */
function withRequestFields(response: JsonObject, body: JsonObject): Json {
  const { seconds, size, ...rest } = response;
  const repeated = {
    ...rest,
    ...(seconds !== undefined && { seconds: typeof body.seconds === 'string' ? body.seconds : seconds }),
    ...(size !== undefined && { size: typeof body.size === 'string' ? body.size : size }),
  };
  return withModel(repeated, body.model);
}

/** Merges a change into an example recursively. An empty object replaces the whole object. */
function mergeChange(response: JsonObject, change: Change): JsonObject {
  const result: JsonObject = { ...response };
  for (const [key, value] of Object.entries(change)) {
    const now = result[key];
    if (value === undefined) delete result[key];
    else if (isChange(value) && isObject(now) && Object.keys(value).length > 0)
      result[key] = mergeChange(now, value);
    else result[key] = value as Json;
  }
  return result;
}

const isChange = (value: unknown): value is Change => isObject(value);

interface TaskTimes {
  created: number;
  started: number;
  ended: number;
}

const day = 24 * 60 * 60 * 1000;
const timeFields: Readonly<Record<string, (times: TaskTimes) => number>> = Object.fromEntries([
  ...['created_at', 'submit_time', 'submitTime', 'CreateTime'].map((key) => [
    key,
    ({ created }: TaskTimes) => created,
  ]),
  ...['start_time', 'startTime', 'scheduled_time'].map((key) => [key, ({ started }: TaskTimes) => started]),
  ...['updated_at', 'completed_at', 'finish_time', 'finishTime', 'end_time', 'UpdateTime'].map((key) => [
    key,
    ({ ended }: TaskTimes) => ended,
  ]),
  ['expires_at', ({ ended }: TaskTimes) => ended + day],
]);

/** Returns a time in the format of the example. 0 and null stay. */
function timeOf(key: string, value: Json, times: TaskTimes): Json {
  const at = timeFields[key]?.(times);
  if (at === undefined || value === 0 || value === null) return value;
  if (typeof value === 'number') return value > 1e11 ? Math.round(at) : Math.floor(at / 1000);
  if (typeof value !== 'string') return value;
  const iso = new Date(at).toISOString();
  if (value.includes(' ')) return iso.replace('T', ' ').replace('Z', '');
  return value.endsWith('Z') ? `${iso.slice(0, 19)}Z` : `${iso.slice(0, 19)}+00:00`;
}

const nouns: Readonly<Partial<Record<OperationId, string>>> = {
  getAsset: 'asset',
  fetchImageJob: 'image job',
  getVerificationSession: 'verification session',
};

/** Returns the 404 of the gateway for an id that the operation `read` cannot poll. */
export function notFound(read: OperationId, field: string, id: string): Failure {
  const place = read === 'getAsset' || read === 'getVerificationSession' ? '' : ' here';
  return noResource(field, `there is no ${nouns[read] ?? 'task'} ${quoted(id)}${place}.`);
}
