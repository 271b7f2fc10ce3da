import { inject, vi } from 'vitest';
import { plainRequest } from '../../client/conformance/asks/plain.ts';
import { type DocumentedOperation, documented } from '../../client/conformance/contract/documented.ts';
import { type Answer, jsonOf, type Target } from '../../client/conformance/wire/answer.ts';
import type { Variation } from '../../client/conformance/wire/exchange.ts';
import { excerpt } from '../../client/conformance/wire/wire.ts';
import type { OperationId } from '../../generated/operations.ts';
import { exchange } from './exchange.ts';
import type { Faults } from './faulty-gateway.ts';

/** Sets what goes wrong, and gives the gateway with a key that may send one request. */
export async function faulty(faults: Faults = {}): Promise<Target> {
  const { target, control } = inject('faulty');
  const response = await fetch(control, { method: 'POST', body: JSON.stringify(faults) });
  return { ...target, key: await response.text() };
}

/** A request about something that is there, made ready before anything fails. */
export const preparedRequest = async (operation: DocumentedOperation): Promise<Variation> =>
  (await prepared[operation.id]?.()) ?? plainRequest(operation);

/** A request about something that must be there first. */
const prepared: Readonly<Record<string, () => Promise<Variation>>> = {
  testChannel: async () => ({ path: { name: 'native' } }),
  enableChannel: async () => ({ path: { name: 'native' } }),
  disableChannel: async () => ({ path: { name: 'native' }, body: { reason: 'Out of order' } }),
  cancelNativeTask: async () => {
    const made = await make('createNativeVideo');
    return { path: { task_id: (jsonOf(made) as { output: { task_id: string } }).output.task_id } };
  },
  cancelTask: async () => {
    const made = await make('createNativeVideo');
    return { path: { id: (jsonOf(made) as { output: { task_id: string } }).output.task_id } };
  },
  deleteOfficialVideo: async () => {
    const made = await make('createOfficialVideo');
    return { path: { task_id: (jsonOf(made) as { id: string }).id } };
  },
  submitImageModal: async () => {
    // A job that was given its mask already waits again as soon as the provider says so.
    await make('fetchImageJob', { path: { id: 'task_1b2c3d4e5f60718293a4b5c6d7e8f90a' } });
    return {};
  },
  downloadVideoContent: async () => ({ path: { task_id: await finishedVideo('mp4 png') } }),
  getFile: async () => ({ path: (await filesOf(await finishedVideo('mp4 png'))).video }),
};

async function make(id: OperationId, variation?: Variation): Promise<Answer> {
  const operation = documented(id);
  const answer = await exchange(await faulty(), operation, variation ?? plainRequest(operation));
  if (answer.status !== 200) throw new Error(`${answer.status} ${excerpt(answer)}`);
  return answer;
}

/** The links to the two files of a video. */
export async function filesOf(task_id: string) {
  const path = { task_id };
  const task = jsonOf(await make('getVideo', { path })) as {
    video_url: string;
    metadata: { last_frame_url: string };
  };
  return { video: linkParts(task.video_url), frame: linkParts(task.metadata.last_frame_url) };
}

/** The parameters of `getFile` in a link. */
export function linkParts(url: string): { token: string; name: string } {
  const [name = '', token = ''] = new URL(url).pathname.split('/').reverse();
  return { token, name };
}

/** The id of a video that has ended with the files that `endings` names, as `mov jpg`. */
export async function finishedVideo(endings: string): Promise<string> {
  const body = { model: 'epsilon-delta-2-0-260128', prompt: endings };
  const { id } = jsonOf(await make('createVideo', { body })) as { id: string };
  await vi.waitFor(
    async () => {
      const task = jsonOf(await make('getVideo', { path: { task_id: id } })) as { status: string };
      if (task.status !== 'completed') throw new Error(`it is ${task.status}`);
    },
    { timeout: 15_000, interval: 100 },
  );
  return id;
}
