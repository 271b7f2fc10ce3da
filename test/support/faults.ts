import { inject, vi } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { type DocumentedOperation, documented } from '../conformance/contract/documented.ts';
import { validRequest } from '../conformance/scenarios/valid-request.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { exchange } from './exchange.ts';
import type { Faults } from './faulty-gateway.ts';
import { signAssertion } from './user-assertions.ts';

/** Sets faults. Returns the gateway with a key that may send one request per minute. */
export async function faulty(faults: Faults = {}): Promise<Target> {
  const { target, control } = inject('faulty');
  const response = await fetch(control, { method: 'POST', body: JSON.stringify(faults) });
  return { ...target, key: await response.text() };
}

/** Prepares a valid request on existing resources, before any fault is set. */
export const preparedRequest = async (operation: DocumentedOperation): Promise<Variation> =>
  (await prepared[operation.id]?.()) ?? validRequest(operation);

/** Requests on resources that must be created first. */
const prepared: Readonly<Record<string, () => Promise<Variation>>> = {
  createSession: async () => ({
    headers: { 'x-unigate-user-assertion': await signAssertion('root') },
  }),
  testChannel: async () => ({ path: { name: 'native' } }),
  enableChannel: async () => ({ path: { name: 'native' } }),
  disableChannel: async () => ({ path: { name: 'native' }, body: { reason: 'Out of order' } }),
  cancelNativeTask: async () => {
    const created = await call('createNativeVideo');
    return { path: { task_id: (jsonOf(created) as { output: { task_id: string } }).output.task_id } };
  },
  cancelTask: async () => {
    const created = await call('createNativeVideo');
    return { path: { id: (jsonOf(created) as { output: { task_id: string } }).output.task_id } };
  },
  deleteOfficialVideo: async () => {
    const created = await call('createOfficialVideo');
    return { path: { task_id: (jsonOf(created) as { id: string }).id } };
  },
  submitImageModal: async () => {
    // Polls the job, so that it waits for modal input again after an earlier test.
    await call('fetchImageJob', { path: { id: 'task_1b2c3d4e5f60718293a4b5c6d7e8f90a' } });
    return {};
  },
  downloadVideoContent: async () => ({ path: { task_id: await finishedVideo('mp4 png') } }),
  getFile: async () => ({ path: (await filesOf(await finishedVideo('mp4 png'))).video }),
};

async function call(id: OperationId, variation?: Variation): Promise<HttpResponse> {
  const operation = documented(id);
  const response = await exchange(await faulty(), operation, variation ?? validRequest(operation));
  if (response.status !== 200) throw new Error(`${response.status} ${excerpt(response)}`);
  return response;
}

/** Returns the links to the two files of a video. */
export async function filesOf(task_id: string) {
  const path = { task_id };
  const task = jsonOf(await call('getVideo', { path })) as {
    video_url: string;
    metadata: { last_frame_url: string };
  };
  return { video: linkParts(task.video_url), frame: linkParts(task.metadata.last_frame_url) };
}

/** Returns the parameters of `getFile` in a link. */
export function linkParts(url: string): { token: string; name: string } {
  const [name = '', token = ''] = new URL(url).pathname.split('/').reverse();
  return { token, name };
}

/** Creates a video with files of the types in `endings`, such as `mov jpg`. Returns its id after it ended. */
export async function finishedVideo(endings: string): Promise<string> {
  const body = { model: 'epsilon-delta-2-0-260128', prompt: endings };
  const { id } = jsonOf(await call('createVideo', { body })) as { id: string };
  await vi.waitFor(
    async () => {
      const task = jsonOf(await call('getVideo', { path: { task_id: id } })) as { status: string };
      if (task.status !== 'completed') throw new Error(`the task is ${task.status}`);
    },
    { timeout: 15_000, interval: 100 },
  );
  return id;
}
