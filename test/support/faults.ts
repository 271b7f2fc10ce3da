import { expect, inject, test, vi } from 'vitest';
import { type DocumentedOperation, documented } from '../../client/conformance/contract/documented.ts';
import { limitSeeds } from '../../client/conformance/limits/limit-seeds.ts';
import { type Answer, jsonOf, type Target } from '../../client/conformance/wire/answer.ts';
import { type Variation } from '../../client/conformance/wire/exchange.ts';
import { excerpt } from '../../client/conformance/wire/wire.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { exchange } from './exchange.ts';
import { checked, type Expected, expectRefusal } from './expectations.ts';
import type { Faults } from './faulty-gateway.ts';
import { shakeHands } from './send-head.ts';
import { unseenCells } from './unseen-cells.ts';

/** Sets what goes wrong, and gives the gateway with a key that may send one request. */
export async function faulty(faults: Faults = {}): Promise<Target> {
  const { target, control } = inject('faulty');
  const response = await fetch(control, { method: 'POST', body: JSON.stringify(faults) });
  return { ...target, key: await response.text() };
}

/** Tests what an operation answers when something fails that its caller has no part in. */
export function testFaults(operation: DocumentedOperation): void {
  const { statuses, security } = operations[operation.id as OperationId];
  const documents = (status: number) => statuses.some((one) => one === status);
  const send = documents(101) ? shakeHands : exchange;
  const fails = (status: number, title: string, faults: Faults, expected: Expected) => {
    const excused = unseenCells[operation.id]?.[`${status} application/json`];
    if (!documents(status) || excused !== undefined) return;
    test(`${status} ${title}`, async () => {
      const request = await (prepared[operation.id]?.() ?? plainRequest(operation));
      const answer = checked(await send(await faulty(faults), operation, request), operation);
      await faulty();
      expectRefusal(answer, status, expected);
    });
  };

  fails(502, 'when the provider fails', { provider: 500 }, { code: 'bad_response_status_code' });
  fails(504, 'when the provider does not answer in time', { provider: 504 }, { code: 'upstream_timeout' });
  fails(503, 'while the store is away', { store: 'away' }, { code: 'store_unavailable' });
  fails(500, 'on an error that nobody thought of', { store: 'broken' }, { code: 'internal_error' });
  if (security === 'none') return;
  test('429 to a key beyond its rate', async () => {
    const target = await faulty();
    await send(target, operation, plainRequest(operation));
    const answer = checked(await send(target, operation, plainRequest(operation)), operation);
    expectRefusal(answer, 429, { code: 'rate_limit_exceeded', says: ['1 requests a minute'] });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
}

/** A request that nothing can be held against. */
function plainRequest({ id }: DocumentedOperation): Variation {
  const [body] = limitSeeds[`${id} application/json`] ?? [];
  return body === undefined ? {} : { body };
}

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
  getFile: async () => ({ path: (await filesOf('mp4 png')).video }),
};

async function make(id: OperationId, variation?: Variation): Promise<Answer> {
  const operation = documented(id);
  const answer = await exchange(await faulty(), operation, variation ?? plainRequest(operation));
  if (answer.status !== 200) throw new Error(`${answer.status} ${excerpt(answer)}`);
  return answer;
}

/** The links to the two files that `endings` names. */
export async function filesOf(endings: string) {
  const path = { task_id: await finishedVideo(endings) };
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
