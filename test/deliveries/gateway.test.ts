import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventProblems } from '../conformance/contract/schemas.ts';
import { post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { secret } from './outbox.ts';
import { Receiver } from './receiver.ts';

const officialPath = '/api/v3/contents/generations/tasks';
const model = 'epsilon-delta-2-0-fast-260128';
const official = (text: string, callback: string) => ({
  model,
  content: [{ type: 'text', text }],
  resolution: '480p',
  duration: 4,
  callback_url: callback,
});
const generic = (callback: string) => ({
  model,
  prompt: 'A paper boat.',
  seconds: '4',
  metadata: { resolution: '480p', callback_url: callback },
});

let gateway: TestGateway;
const webhook = new Webhook(secret, { format: 'raw' });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
  gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret } });
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

async function createTask(path: string, body: object): Promise<string> {
  const answer = await post(gateway.url, gateway.key, path, body);
  const created = (await answer.json()) as { id?: string; task_id?: string };
  expect(answer.status).toBe(200);
  return created.id ?? created.task_id ?? '';
}

test('tasks of every official route are reported', { timeout: 60_000 }, async () => {
  const ends = new Map([
    [await createTask(officialPath, official('A paper boat.', receiver.url('/official'))), 'succeeded'],
    [
      await createTask(officialPath, official('A paper boat. [[sensitive]]', receiver.url('/failed'))),
      'failed',
    ],
    [await createTask(officialPath, official('A paper boat. [[expire]]', receiver.url('/late'))), 'expired'],
    [await createTask('/v1/videos', generic(receiver.url('/videos'))), 'succeeded'],
    [await createTask('/v1/video/generations', generic(receiver.url('/generations'))), 'succeeded'],
  ]);
  const allEnded = () => {
    for (const [id, end] of ends) expect(receiver.statesByTask()[id]?.at(-1)).toBe(end);
  };
  await vi.waitFor(allEnded, { timeout: 40_000, interval: 50 });
  expect(new Set(Object.keys(receiver.statesByTask()))).toEqual(new Set(ends.keys()));
  const tasks = await gateway.gateway.store.read.selectFrom('tasks').select(['id', 'upstream_id']).execute();
  for (const { id, upstream_id } of tasks) {
    const deliveries = receiver.seen.filter(({ body }) => body.id === id);
    const statuses = deliveries.map(({ body }) => body.status);
    // Whether the task is seen running depends on the time of the poll.
    expect(statuses.filter((status) => status !== 'running')).toEqual(['queued', ends.get(id)]);
    expect(statuses.lastIndexOf('running')).toBeLessThan(2);
    for (const delivery of deliveries) {
      expect(eventProblems('OfficialTaskCallback', delivery.body)).toEqual([]);
      expect(eventProblems('CallbackHeaders', delivery.headers)).toEqual([]);
      expect(delivery.text).not.toContain(upstream_id);
      // Throws if a signature is invalid.
      const verified = webhook.verify(delivery.text, delivery.headers as Record<string, string>);
      expect(verified).toEqual(delivery.body);
    }
  }
  // The last delivery equals the response of a poll.
  const [id = ''] = ends.keys();
  const polled = await fetch(`${gateway.url}${officialPath}/${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  expect(receiver.seen.findLast(({ body }) => body.id === id)?.body).toEqual(await polled.json());
});

test.each([
  ['/sigma', 'callback_url'],
  ['/sigma', 'notify_hook'],
  ['/sigma/v1', 'callback_url'],
])('lyrics of %s report their end to %s', { timeout: 60_000 }, async (prefix, field) => {
  const ends = new Map<string, string>();
  for (const [prompt, end] of [
    ['A lullaby.', 'SUCCESS'],
    ['A lullaby. [[fail-late]]', 'FAILURE'],
  ] as const) {
    const body = { prompt, [field]: receiver.url('/lyrics') };
    const answer = await post(gateway.url, gateway.key, `${prefix}/submit/lyrics`, body);
    expect(answer.status).toBe(200);
    ends.set(((await answer.json()) as { data: string }).data, end);
  }
  for (const [id, end] of ends) {
    const delivery = await vi.waitFor(
      () => {
        const found = receiver.seen.find(({ body }) => body.task_id === id);
        if (found === undefined) throw new Error('no callback yet');
        return found;
      },
      { timeout: 40_000, interval: 50 },
    );
    expect(delivery.body).toMatchObject({ action: 'LYRICS', status: end });
    expect(eventProblems('MusicTaskCallback', delivery.body)).toEqual([]);
    const headers = { authorization: `Bearer ${gateway.key}` };
    const polled = await fetch(`${gateway.url}/sigma/fetch/${id}`, { headers });
    expect(((await polled.json()) as { data: unknown }).data).toEqual(delivery.body);
  }
});

test('a private address is refused before a task is created', async () => {
  const guarded = await startTestGateway();
  const callback = receiver.url();
  for (const [path, body, field] of [
    [officialPath, official('A kite.', callback), 'callback_url'],
    ['/sigma/submit/lyrics', { prompt: 'A lullaby.', callback_url: callback }, 'callback_url'],
    ['/sigma/submit/lyrics', { prompt: 'A lullaby.', notify_hook: callback }, 'notify_hook'],
    ['/v1/videos', generic(callback), 'metadata.callback_url'],
    ['/v1/video/generations', generic(callback), 'metadata.callback_url'],
  ] as const) {
    const answer = await post(guarded.url, guarded.key, path, body);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([
      400,
      expect.stringContaining(`${field}: must lead to a public address`),
    ]);
  }
  expect(await guarded.gateway.store.read.selectFrom('tasks').select('id').execute()).toEqual([]);
  await guarded.close();
});
