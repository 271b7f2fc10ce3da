import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { eventProblems } from '../conformance/contract/schemas.ts';
import { Receiver, signatureOf } from '../deliveries/receiver.ts';
import { pair } from './sigma-answers.ts';
import { useSigmaRig } from './sigma-provider.ts';

const secret = 'the secret of callbacks';
const webhook = new Webhook(secret, { format: 'raw' });
const rig = useSigmaRig({ callbacks: { allowPrivate: true, secret } });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
});
beforeEach(() => {
  receiver.seen.length = 0;
});
afterAll(() => receiver.close());

/** Bodies that the receiver got for the task, once there are any. */
async function deliveriesOf(id: string) {
  return vi.waitFor(
    () => {
      const seen = receiver.seen.filter(({ body }) => body.task_id === id);
      if (seen.length === 0) throw new Error('nothing was delivered');
      return seen;
    },
    { timeout: 20_000, interval: 20 },
  );
}

const a = () => ({ callback_url: receiver.url('/a') });
const b = () => ({ notify_hook: receiver.url('/b') });

test.each<[string, string, () => object, string]>([
  ['callback_url', '/sigma/submit/music', () => ({ prompt: 'The sea', ...a() }), '/a'],
  ['notify_hook', '/sigma/v1/submit/music', () => ({ prompt: 'The sea', ...b() }), '/b'],
  ['both', '/sigma/submit/music', () => ({ prompt: 'The sea', ...a(), ...b() }), '/a'],
  ['notify_hook of format A', '/sigma/v1/music', () => ({ input: { prompt: 'The sea' }, ...b() }), '/b'],
])('%s receives the final record once, equal to the fetch response', async (_, path, body, hook) => {
  const { body: answer } = await rig.send('POST', path, body());
  const [id = ''] = /task_[a-f0-9]{32}/.exec(JSON.stringify(answer)) ?? [];
  rig.reported = { status: 'IN_PROGRESS', progress: '50%', data: pair };
  await rig.poll(id);
  rig.reported = { status: 'SUCCESS', data: pair };
  const record = await rig.poll(id);
  expect(record).toMatchObject({ status: 'SUCCESS', data: [{}, {}] });
  const [delivery, ...more] = await deliveriesOf(id);
  expect([delivery?.path, delivery?.body, more]).toEqual([hook, record, []]);
  expect(eventProblems('MusicTaskCallback', delivery?.body)).toEqual([]);
  expect(eventProblems('CallbackHeaders', delivery?.headers)).toEqual([]);
  if (delivery === undefined) throw new Error('nothing was delivered');
  expect(delivery.headers['webhook-signature']).toBe(signatureOf(delivery, webhook));
});

test('a failure is also reported, later if the receiver was unavailable', async () => {
  const answers = [500, 503];
  receiver.answer = (_, response) => response.writeHead(answers.shift() ?? 200).end();
  try {
    const id = await rig.submit({ callback_url: receiver.url('/down') });
    rig.reported = { status: 'FAILURE', fail_reason: 'The lyrics were refused.' };
    const record = await rig.poll(id);
    await vi.waitFor(
      async () => {
        await rig.pass(15_000);
        expect(receiver.seen).toHaveLength(3);
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(record).toMatchObject({ status: 'FAILURE', fail_reason: 'The lyrics were refused.', data: [] });
    expect(receiver.seen.map(({ body }) => body)).toEqual([record, record, record]);
    expect(new Set(receiver.seen.map((one) => one.id)).size).toBe(1);
    expect(eventProblems('MusicTaskCallback', record)).toEqual([]);
  } finally {
    receiver.answer = 200;
  }
});

test('a request for lyrics reports their end', async () => {
  const { body: answer } = await rig.send('POST', '/sigma/submit/lyrics', { prompt: 'The sea', ...a() });
  const [lyrics = ''] = /task_[a-f0-9]{32}/.exec(JSON.stringify(answer)) ?? [];
  rig.reported = {
    status: 'SUCCESS',
    data: { id: 'a', status: 'complete', title: 'The sea', text: 'Waves' },
  };
  const polled = await rig.poll(lyrics);
  expect(polled).toMatchObject({ action: 'LYRICS', status: 'SUCCESS' });
  await deliveriesOf(lyrics);
  expect(receiver.seen.map(({ body }) => body)).toEqual([polled]);
});
