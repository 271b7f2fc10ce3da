import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Delivery, Unigate, verifyDelivery } from '../../client/index.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Rendering media takes seconds, and other tests share the cores. */
const patience = 120_000;

let gateway: TestGateway;
let client: Unigate;
beforeAll(async () => {
  gateway = await startTestGateway({ callbacks: { allowPrivate: true, secret } });
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
});
afterAll(() => gateway.close());

/** Starts a receiver. Returns its address, and the accepted deliveries once a task has ended. */
async function receive() {
  const ended = Promise.withResolvers<Delivery[]>();
  const received: Delivery[] = [];
  const url = await startStubServer(async (request, response) => {
    try {
      const delivery = await verifyDelivery(Buffer.concat(await request.toArray()), request.headers, secret);
      response.writeHead(204).end();
      received.push(delivery);
      if (/^(succeeded|SUCCESS)$/.test(delivery.task.status ?? '')) ended.resolve(received);
    } catch (error) {
      response.writeHead(400).end();
      ended.reject(error);
    }
  });
  return { url, ended: ended.promise };
}

test('a Seedance video', { timeout: patience }, async () => {
  const { url, ended } = await receive();
  const { id } = await client.officialVideos.create({
    model: 'epsilon-delta-2-0-260128',
    content: [{ type: 'text', text: 'A boat.' }],
    resolution: '480p',
    duration: 4,
    callback_url: url,
  });
  const deliveries = await ended;
  // Work that finishes between two polls is never reported as running.
  const states = deliveries.map(({ kind, task }) =>
    kind === 'video' && task.id === id ? task.status : kind,
  );
  expect(states.filter((state) => state !== 'running')).toEqual(['queued', 'succeeded']);
  expect(new Set(deliveries.map((delivery) => delivery.id)).size).toBe(deliveries.length);
});

test('an image job', { timeout: patience }, async () => {
  const { url, ended } = await receive();
  const created = await client.imageJobs.create({ prompt: 'a harbour', notifyHook: url, state: 'order 7' });
  const last = (await ended).at(-1);
  expect(last).toMatchObject({
    kind: 'image',
    task: { id: client.imageJobs.idOf(created), status: 'SUCCESS', state: 'order 7' },
  });
});

test('a music task', { timeout: patience }, async () => {
  const { url, ended } = await receive();
  const created = await client.music.create({ mv: 'chirp-hawk', prompt: 'A song.', callback_url: url });
  const [delivery] = await ended;
  expect(delivery).toMatchObject({
    kind: 'music',
    task: { task_id: client.music.idsOf(created)[0], status: 'SUCCESS', data: [{ status: 'complete' }, {}] },
  });
});

test('the callbacks that listen forwards', { timeout: patience }, async () => {
  const { url, ended } = await receive();
  const stop = new AbortController();
  const env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  let stderr = '';
  const ready = Promise.withResolvers<void>();
  const listening = runCommand(['listen', '--forward-to', url, '--interval', '0.1'], {
    env,
    signal: stop.signal,
    onStderr: (text) => {
      stderr += text;
      ready.resolve();
    },
  });
  await Promise.race([ready.promise, listening]);
  expect(stderr).toContain('Ready.');
  const callback_url = 'http://127.0.0.1:9/unreachable';
  const created = await client.music.create({ mv: 'chirp-hawk', prompt: 'A song.', callback_url });
  const [delivery] = await ended;
  stop.abort();
  const [id] = client.music.idsOf(created);
  expect(delivery).toMatchObject({ kind: 'music', task: { task_id: id, status: 'SUCCESS' } });
  await listening;
  const { items } = await client.callbacks.list();
  expect(items.find((callback) => callback.task_id === id)).toMatchObject({
    url: callback_url,
    state: 'open',
  });
});
