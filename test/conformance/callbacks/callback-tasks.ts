import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { RunContext } from '../context/run-context.ts';
import { jobStates, officialStates, recordStates, taskKinds } from '../context/task-kinds.ts';
import { mask } from '../scenarios/resources.ts';

/** A task that sends callbacks, and how to check them. */
export interface CallbackTask {
  /** Channel of the AsyncAPI document. */
  channel: string;
  /** The request without the callback address. */
  body: (context: RunContext) => Promise<JsonObject> | JsonObject;
  /** States in the order of the deliveries. Those of the last entry end the task. */
  states: readonly (readonly string[])[];
  /** Operation that polls the task. */
  read: OperationId;
  /** Name of the path parameter that takes its id. */
  param: string;
  /** Returns the part of a poll response that equals the body of a delivery. */
  polledBody?: (response: unknown) => unknown;
}

const official = { channel: 'officialTaskCallback', states: officialStates, param: 'task_id' };
const music = { channel: 'musicTaskCallback', states: recordStates, param: 'task_id' };
const wholeBody = (response: unknown) => response;
const image = {
  channel: 'imageJobCallback',
  states: jobStates,
  read: 'fetchImageJob',
  param: 'id',
  polledBody: wholeBody,
} as const;

/** By the operation that creates the task. */
export const callbackTasks: Partial<Record<OperationId, CallbackTask>> = {
  createGenericVideo: { ...official, body: () => taskKinds.family.body, read: 'getGenericVideo' },
  createVideo: { ...official, body: () => taskKinds.thumbnailed.body, read: 'getVideo' },
  createOfficialVideo: {
    ...official,
    body: () => taskKinds.official.body,
    read: 'getOfficialVideo',
    polledBody: wholeBody,
  },
  submitMusic: {
    ...music,
    body: () => taskKinds.music.body,
    read: 'fetchMusicTask',
    polledBody: (response) => (response as { data: unknown }).data,
  },
  submitLyrics: {
    ...music,
    body: () => ({ prompt: 'A lullaby for a lighthouse' }),
    read: 'fetchMusicTask',
    polledBody: (response) => (response as { data: unknown }).data,
  },
  createMusic: { ...music, body: () => ({ input: taskKinds.music.body }), read: 'getMusic' },
  submitImagine: { ...image, body: () => taskKinds.image.body },
  submitImageAction: {
    ...image,
    body: async ({ fixtures }) => {
      const { id, buttons } = await fixtures.image();
      return { taskId: id, customId: buttons[0]?.customId ?? '' };
    },
  },
  submitImageModal: {
    ...image,
    body: async ({ fixtures }) => ({
      taskId: await fixtures.modalJob(),
      prompt: 'a lighthouse',
      maskBase64: mask,
    }),
  },
};
