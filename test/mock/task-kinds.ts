import type { OperationId } from '../../generated/operations.ts';
import { type Json, type JsonObject, text } from '../../openapi/tools/document.ts';
import { type Failure, notFound as noResource } from '../../server/lib/failure.ts';
import { quoted } from '../../server/models/catalogue.ts';

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
export interface Change {
  [field: string]: Json | Change | undefined;
}

export interface TaskKind {
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

/** Returns the name of the format in which the gateway stores the tasks of a kind. */
export const formatOf = ({ read }: TaskKind): string => formats[read] ?? read;

export function taskKindOf(operation: OperationId): TaskKind;
/** Undefined if the operation `read` cannot poll it. */
export function taskKindOf(operation: OperationId, read: OperationId): TaskKind | undefined;
export function taskKindOf(operation: OperationId, read?: OperationId): TaskKind | undefined {
  const kind = taskKinds.get(operation);
  if (kind === undefined) throw new Error(`${operation} creates no task`);
  if (read === undefined || kind.read === read) return kind;
  return kind.alternative?.read === read ? kind.alternative : undefined;
}

const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();

const modelOf = ({ body }: MockTask): string => (typeof body.model === 'string' ? body.model : '');

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
