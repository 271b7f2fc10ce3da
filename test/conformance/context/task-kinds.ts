import type { OperationId } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';

/** A kind of task: its operations and states. */
export interface TaskKind {
  create: OperationId;
  body: Json;
  read: OperationId;
  /** Name of the path parameter that takes its id. */
  param: string;
  /** States in order. A task reaches at most one state of each entry. */
  states: readonly (readonly string[])[];
  /** The state of a task with a result. */
  done: string;
}

const prompt = 'A paper boat.';
const generic = [['queued'], ['in_progress'], ['completed', 'failed']];
const native = [['PENDING'], ['RUNNING'], ['SUCCEEDED', 'FAILED', 'CANCELED', 'UNKNOWN']];
export const officialStates = [['queued'], ['running'], ['succeeded', 'failed', 'expired', 'cancelled']];
export const recordStates = [
  ['NOT_START'],
  ['SUBMITTED'],
  ['QUEUED'],
  ['IN_PROGRESS'],
  ['SUCCESS', 'FAILURE'],
];
export const jobStates = [['NOT_START'], ['SUBMITTED'], ['MODAL'], ['IN_PROGRESS'], ['SUCCESS', 'FAILURE']];

const seedance = 'epsilon-delta-2-0-260128';

export const taskKinds = {
  video: {
    create: 'createVideo',
    body: { model: 'gamma3.0-video-prime', prompt, seconds: '2', size: '480P' },
    read: 'getVideo',
    param: 'task_id',
    states: generic,
    done: 'completed',
  },
  thumbnailed: {
    create: 'createVideo',
    body: { model: seedance, prompt, seconds: '4', size: '480p', metadata: { return_last_frame: true } },
    read: 'getVideo',
    param: 'task_id',
    states: generic,
    done: 'completed',
  },
  generic: {
    create: 'createGenericVideo',
    body: { model: 'gamma3.0-video-prime', prompt, seconds: '2', size: '480P' },
    read: 'getGenericVideo',
    param: 'task_id',
    states: generic,
    done: 'completed',
  },
  family: {
    create: 'createGenericVideo',
    body: { model: seedance, prompt, seconds: '4', size: '480p' },
    read: 'getGenericVideo',
    param: 'task_id',
    states: recordStates,
    done: 'SUCCESS',
  },
  native: {
    create: 'createNativeVideo',
    body: {
      model: 'gamma3.0-video-prime',
      input: { prompt },
      parameters: { resolution: '480P', duration: 2 },
    },
    read: 'getNativeTask',
    param: 'task_id',
    states: native,
    done: 'SUCCEEDED',
  },
  model3d: {
    create: 'createModel3d',
    body: { model: 'theta-3d', input: { prompt } },
    read: 'getNativeTask',
    param: 'task_id',
    states: native,
    done: 'SUCCEEDED',
  },
  official: {
    create: 'createOfficialVideo',
    body: { model: seedance, content: [{ type: 'text', text: prompt }], resolution: '480p', duration: 4 },
    read: 'getOfficialVideo',
    param: 'task_id',
    states: officialStates,
    done: 'succeeded',
  },
  music: {
    create: 'submitMusic',
    body: { prompt: 'A slow song about the sea' },
    read: 'fetchMusicTask',
    param: 'task_id',
    states: recordStates,
    done: 'SUCCESS',
  },
  lyrics: {
    create: 'submitLyrics',
    body: { prompt: 'A lullaby for a lighthouse' },
    read: 'fetchMusicTask',
    param: 'task_id',
    states: recordStates,
    done: 'SUCCESS',
  },
  image: {
    create: 'submitImagine',
    body: { prompt: 'a harbour' },
    read: 'fetchImageJob',
    param: 'id',
    states: jobStates,
    done: 'SUCCESS',
  },
} as const satisfies Readonly<Record<string, TaskKind>>;

/** Whether the state ends a task of any kind. */
export const isFinal = (state: string): boolean =>
  Object.values(taskKinds).some(({ states }) => states.at(-1)?.some((one) => one === state));

export type TaskName = keyof typeof taskKinds;

/** Id and state of a task, in the formats of all kinds. */
interface TaskResponse {
  id?: string;
  status?: string;
  result?: string;
  output?: { task_id?: string; task_status?: string };
  data?: string | { status?: string; task_id?: string } | { task_id?: string }[];
}

export function idOfTask(body: unknown): string | undefined {
  const { id, result, output, data } = body as TaskResponse;
  if (typeof data === 'string') return data;
  const named = Array.isArray(data) ? data[0] : data;
  return output?.task_id ?? result ?? named?.task_id ?? id;
}

export function stateOfTask(body: unknown): string {
  const { status, output, data } = body as TaskResponse;
  const named = typeof data === 'object' && !Array.isArray(data) ? data.status : undefined;
  return output?.task_status ?? named ?? status ?? '';
}
