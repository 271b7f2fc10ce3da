import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { mask } from '../asks/things-asked.ts';
import { jobStates, officialStates, recordStates, taskKinds } from '../subject/task-kinds.ts';
import type { World } from '../subject/world.ts';

/** A task whose owner is told of it, and what is told. */
export interface ToldTask {
  /** Channel of the AsyncAPI document. */
  channel: string;
  /** The request but for the address. */
  body: (world: World) => Promise<JsonObject> | JsonObject;
  /** As the deliveries name them, in the order in which they come; those of the last entry end the task. */
  states: readonly (readonly string[])[];
  /** Where it is polled. */
  read: OperationId;
  /** Name of the path parameter that takes its id. */
  param: string;
  /** Of what polling shows, the part that has the very form of the deliveries. */
  shown?: (answer: unknown) => unknown;
}

const official = { channel: 'officialTaskCallback', states: officialStates, param: 'task_id' };
const music = { channel: 'musicTaskCallback', states: recordStates, param: 'task_id' };
const whole = (answer: unknown) => answer;
const image = {
  channel: 'imageJobCallback',
  states: jobStates,
  read: 'fetchImageJob',
  param: 'id',
  shown: whole,
} as const;

/** By the operation that makes the task. */
export const toldTasks: Partial<Record<OperationId, ToldTask>> = {
  createGenericVideo: { ...official, body: () => taskKinds.family.body, read: 'getGenericVideo' },
  createVideo: { ...official, body: () => taskKinds.thumbnailed.body, read: 'getVideo' },
  createOfficialVideo: {
    ...official,
    body: () => taskKinds.official.body,
    read: 'getOfficialVideo',
    shown: whole,
  },
  submitMusic: {
    ...music,
    body: () => taskKinds.music.body,
    read: 'fetchMusicTask',
    shown: (answer) => (answer as { data: unknown }).data,
  },
  submitLyrics: {
    ...music,
    body: () => ({ prompt: 'A lullaby for a lighthouse' }),
    read: 'fetchMusicTask',
    shown: (answer) => (answer as { data: unknown }).data,
  },
  createMusic: { ...music, body: () => ({ input: taskKinds.music.body }), read: 'getMusic' },
  submitImagine: { ...image, body: () => taskKinds.image.body },
  submitImageAction: {
    ...image,
    body: async ({ things }) => {
      const { id, buttons } = await things.picture();
      return { taskId: id, customId: buttons[0]?.customId ?? '' };
    },
  },
  submitImageModal: {
    ...image,
    body: async ({ things }) => ({
      taskId: await things.waitingJob(),
      prompt: 'a lighthouse',
      maskBase64: mask,
    }),
  },
};
