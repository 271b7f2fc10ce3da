import { describe, expect, test, vi } from 'vitest';
import { walletOf } from '../../server/store/queries/wallets.ts';
import type { Store } from '../../server/store/store.ts';
import { type Engine, engines } from '../store/engines.ts';
import { expectBalanced, logRows, reservationRows } from '../store/ledger.ts';
import { connect } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';
import { createDeployment, type Deployment, startQuota } from './deployment.ts';
import { GatewayProcess } from './gateway-process.ts';
import { nativePoll, pollPath } from './poll-path.ts';

/** One task of each upstream protocol, a slow one, a failing one, a rejected one and a canceled one. */
const requests: readonly { path: string; body: object }[] = [
  { path: '/v1/videos', body: { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2', size: '480p' } },
  { path: '/v1/videos', body: { model: 'gamma3.0-video', prompt: '[[slow]]', seconds: '2', size: '480p' } },
  { path: '/v1/videos', body: { model: 'eta-imagine-video', prompt: 'A kite.', seconds: '1' } },
  {
    path: '/v1/video/generations',
    body: { model: 'epsilon-delta-2-0-fast-260128', prompt: 'A kite.', seconds: '4', size: '480p' },
  },
  { path: '/imgjob/submit/imagine', body: { prompt: 'A kite.' } },
  { path: '/sigma/submit/music', body: { prompt: 'A kite.', make_instrumental: 1 } },
  { path: '/sigma/submit/lyrics', body: { prompt: 'A kite.' } },
  { path: '/v1/videos', body: { model: 'gamma3.0-video', prompt: '[[fail-late]]', seconds: '2' } },
  { path: '/v1/videos', body: { model: 'gamma3.0-video', prompt: '[[reject]]', seconds: '2' } },
  {
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    body: { model: 'gamma3.0-video', input: { prompt: '[[slow]]' }, parameters: { duration: 2 } },
  },
];

/** A text that is spoken, and the price of each of its characters. */
const speech = 'Hello.';
const unitPrice = 10;

/**
 * test/tasks/crash.test.ts covers every fault point on both engines, for tasks alone. These tests restart a whole gateway
 * with all protocols, for one point of each stage.
 */
const points: readonly [engine: Engine, dieAt: string, payer: 'key' | 'wallet' | 'sub-account'][] = [
  ['sqlite', 'submit:answered', 'key'],
  ['sqlite', 'cancel:answered', 'key'],
  ['sqlite', 'settle:between', 'wallet'],
  ['postgres', 'poll:recorded', 'key'],
  ['postgres', 'settle:between', 'key'],
  ['postgres', 'submit:answered', 'wallet'],
  ['postgres', 'settle:after', 'sub-account'],
];

// Not `on %s`: each point is tested with one engine only.
describe.each(points)('a gateway with %s', { concurrent: true }, (engine, dieAt, payer) => {
  test.runIf(engines.includes(engine))(
    `killed at ${dieAt} loses nothing and charges nothing of a ${payer} twice`,
    { timeout: 240_000 },
    () =>
      withDeployment(
        engine,
        { wallet: payer !== 'key', account: payer === 'sub-account' },
        async (deployment) => {
          const child = await GatewayProcess.start({ ...deployment.options, dieAt });
          // Every point except the completion is reached while the upstream is frozen. Later, all tasks might have ended.
          const isBeforeCompletion = !dieAt.startsWith('settle:');
          const pollPaths = await sendAll(deployment, child.url, () =>
            isBeforeCompletion ? child.waitForKill() : undefined,
          );
          await child.waitForKill();
          await recover(deployment, pollPaths);
        },
      ),
  );
});

test.runIf(engines.includes('postgres'))(
  'a gateway that is killed repeatedly at random moments loses nothing and charges nothing twice',
  { timeout: 240_000 },
  () =>
    withDeployment('postgres', {}, async (deployment) => {
      const pollPaths: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const child = await GatewayProcess.start(deployment.options);
        const sent = sendAll(deployment, child.url);
        if (round === 1) await sent;
        // Kills the gateway while some requests have been answered and others have not.
        else await Promise.race([sent, send(deployment, child.url, '/v1/models')]);
        child.kill();
        pollPaths.push(...(await sent));
        await child.waitForKill();
      }
      await recover(deployment, pollPaths);
    }),
);

describe('an Idempotency-Key after a kill', { concurrent: true }, () => {
  const createVideo = async (deployment: Deployment, url: string, name = 'the first') => {
    const { path, body } = requests[0] ?? { path: '' };
    const reply = await send(deployment, url, path, body, { 'idempotency-key': name });
    return (await reply.json()) as { id: string; status: string; error?: { code: string } };
  };

  test.each([
    ['submit:reserved', 'before the provider received the request', undefined],
    ['submit:marked', 'when the provider may have received the request', 'submission_interrupted'],
  ])('at %s, %s', { timeout: 240_000 }, (dieAt, _, code) =>
    withDeployment('sqlite', {}, async (deployment) => {
      const child = await GatewayProcess.start({ ...deployment.options, dieAt });
      await Promise.all([expect(createVideo(deployment, child.url)).rejects.toThrow(), child.waitForKill()]);
      await deployment.releaseOrphans();
      const { url, gateway, close } = await deployment.serve();
      try {
        let task = await createVideo(deployment, url);
        if (code !== undefined) {
          expect(task).toMatchObject({ status: 'failed', error: { code } });
          task = await createVideo(deployment, url, 'another');
        }
        const state = async () => {
          const polled = await (await send(deployment, url, `/v1/videos/${task.id}`)).json();
          expect(polled).toMatchObject({ status: 'completed' });
        };
        await vi.waitFor(state, { timeout: 60_000, interval: 50 });
        const states = (await reservationRows(gateway.store)).map((row) => row.state);
        expect(states.toSorted()).toEqual(['refunded', 'settled']);
        await expectBalanced(gateway.store, deployment.token);
      } finally {
        await close(1_000);
      }
    }),
  );
});

describe('an image job whose modal call is interrupted', { concurrent: true }, () => {
  const getJob = async (deployment: Deployment, url: string, id: string) => {
    const reply = await send(deployment, url, `/imgjob/task/${id}/fetch`);
    return (await reply.json()) as { status: string; state: string; buttons: { customId: string }[] };
  };
  const waitForStatus = (deployment: Deployment, url: string, id: string, status: string) =>
    vi.waitFor(
      async () => {
        const job = await getJob(deployment, url, id);
        expect(job.status).toBe(status);
        return job;
      },
      { timeout: 60_000, interval: 50 },
    );
  const submit = async (deployment: Deployment, url: string, call: string, body: object) => {
    const reply = await send(deployment, url, `/imgjob/submit/${call}`, body);
    const { result } = (await reply.json()) as { result: string };
    return result;
  };
  const press = async (deployment: Deployment, url: string, id: string, prefix: string) => {
    const { buttons } = await waitForStatus(deployment, url, id, 'SUCCESS');
    const button = buttons.find(({ customId }) => customId.startsWith(prefix));
    return submit(deployment, url, 'action', { taskId: id, customId: button?.customId });
  };

  test.each([
    ['resume:noted', 'before the provider received it, still waits', 'MODAL'],
    ['resume:answered', 'after the provider accepted it, continues', 'SUCCESS'],
  ])('at %s, %s', { timeout: 240_000 }, (dieAt, _, status) =>
    withDeployment('sqlite', {}, async (deployment) => {
      const child = await GatewayProcess.start({ ...deployment.options, dieAt });
      const grid = await submit(deployment, child.url, 'imagine', { prompt: 'A kite.' });
      const image = await press(deployment, child.url, grid, 'IJ::JOB::upsample::1');
      const id = await press(deployment, child.url, image, 'IJ::CustomZoom');
      const modal = { taskId: id, prompt: 'A kite. --zoom 1.5', state: 'order 7' };
      await Promise.all([
        expect(submit(deployment, child.url, 'modal', modal)).rejects.toThrow(),
        child.waitForKill(),
      ]);
      await deployment.releaseOrphans();
      const { url, gateway, close } = await deployment.serve();
      try {
        expect(await waitForStatus(deployment, url, id, status)).toMatchObject({ state: 'order 7' });
        if (status === 'MODAL') expect(await submit(deployment, url, 'modal', modal)).toBe(id);
        await waitForStatus(deployment, url, id, 'SUCCESS');
        const states = (await reservationRows(gateway.store)).map((row) => row.state);
        expect(states).toEqual(['settled', 'settled', 'settled']);
        await expectBalanced(gateway.store, deployment.token);
      } finally {
        await close(1_000);
      }
    }),
  );
});

test.runIf(engines.includes('postgres'))(
  'another gateway continues the tasks of a killed one and releases the reservations of its calls',
  { timeout: 240_000 },
  () =>
    withDeployment('postgres', {}, async (deployment) => {
      const other = await deployment.serve();
      try {
        const { read } = other.gateway.store;
        const open = () => read.selectFrom('ledger').select('kind').where('state', '=', 'open').execute();
        const child = await GatewayProcess.start(deployment.options);
        const speech = { model: 'alpha3-tts-flash', input: 'Hello. [[hang]]', voice: 'Aria' };
        const broken = send(deployment, child.url, '/v1/audio/speech', speech).catch(() => undefined);
        await vi.waitFor(async () => expect(await open()).toEqual([{ kind: 'request' }]), {
          timeout: 30_000,
        });
        const pollPaths = await sendAll(deployment, child.url);
        child.kill();
        await Promise.all([child.waitForKill(), broken]);
        await vi.waitFor(async () => expect(await open()).toEqual([]), { timeout: 60_000, interval: 50 });
        for (const path of pollPaths) {
          const reply = JSON.stringify(await (await send(deployment, other.url, path)).json());
          expect(reply).toMatch(/"(completed|SUCCESS|SUCCEEDED|failed|FAILURE|CANCELED)"/);
        }
        await expectBalanced(other.gateway.store, deployment.token);
      } finally {
        await other.close(1_000);
      }
    }),
);

test.each(engines)(
  'on %s, calls and sockets of a sub-account are charged to its customer once, and kills leave nothing reserved',
  { timeout: 240_000 },
  (engine) =>
    withDeployment(engine, { wallet: true, account: true }, async (deployment) => {
      const completed: string[] = [];
      for (let round = 0; round < 2; round += 1) {
        const child = await GatewayProcess.start(deployment.options);
        const interrupted = speak(deployment, child.url, 'Hello. [[hang]]').then(
          () => 'completed',
          () => 'broken',
        );
        await vi.waitFor(async () => expect(await deployment.countOpenCalls()).toBe(1), { timeout: 30_000 });
        const session = await startSession(deployment, child.url);
        for (let pair = 0; pair < 3; pair += 1) {
          const calls = [speech, speech].map((text) => speak(deployment, child.url, text));
          completed.push(...(await Promise.all(calls)));
        }
        const finished = await startSession(deployment, child.url);
        finished.send({ event_id: 'finish', type: 'session.finish' });
        await finished.next(({ type }: Frame) => type === 'session.finished');
        await finished.closed;
        completed.push(String(finished.headers['x-request-id']));
        child.kill();
        await Promise.all([child.waitForKill(), session.closed]);
        expect(await interrupted).toBe('broken');
        await deployment.releaseOrphans();
      }
      const { gateway, close } = await deployment.serve();
      try {
        const { store } = gateway;
        const released = async () =>
          expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], held: 0, leased: 0 });
        await vi.waitFor(released, { timeout: 60_000, interval: 50 });
        const charges = (await logRows(store)).map((row) => [row.request_id, row.quota] as const);
        const cost = unitPrice * speech.length;
        expect(charges).toHaveLength(completed.length);
        expect(Object.fromEntries(charges)).toEqual(Object.fromEntries(completed.map((id) => [id, cost])));
        const used = cost * completed.length;
        await expectWallet(store, deployment, used);
        await expectBalanced(store, deployment.token);
      } finally {
        await close(1_000);
      }
    }),
);

/** Checks that exactly `used` was taken from the wallet of the payer, and that nothing is reserved. */
async function expectWallet(store: Store, { payerId }: Deployment, used: number): Promise<void> {
  const balances = { balance: startQuota - used, reserved: 0, used, debt: 0 };
  expect(await walletOf(store.read, payerId)).toMatchObject(balances);
}

/** Requests speech. Returns the request id of the completed call. */
async function speak(deployment: Deployment, url: string, input: string): Promise<string> {
  const body = { model: 'alpha3-tts-flash', input, voice: 'Aria' };
  const reply = await send(deployment, url, '/v1/audio/speech', body);
  expect(reply.status).toBe(200);
  await reply.arrayBuffer();
  return reply.headers.get('x-request-id') ?? '';
}

/** Opens a realtime session that has spoken a text. */
async function startSession({ key }: Deployment, url: string) {
  const client = await connect(`${url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
  const next = (type: string) => client.next((event: Frame) => event.type === type);
  client.send({ event_id: 'update', type: 'session.update', session: { voice: 'Aria', mode: 'commit' } });
  await next('session.updated');
  client.send({ event_id: 'append', type: 'input_text_buffer.append', text: speech });
  client.send({ event_id: 'commit', type: 'input_text_buffer.commit' });
  await next('response.done');
  return client;
}

async function withDeployment(
  engine: Engine,
  options: { wallet?: boolean; account?: boolean },
  use: (deployment: Deployment) => Promise<void>,
): Promise<void> {
  const deployment = await createDeployment(engine, options);
  try {
    await use(deployment);
  } finally {
    await deployment.remove();
  }
}

function send(
  { key }: Deployment,
  url: string,
  path: string,
  body?: object,
  more?: object,
): Promise<Response> {
  return fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

/**
 * Sends all requests at once and cancels the native tasks. Returns the poll paths of the tasks whose ids were returned: a
 * killed gateway returns fewer. The upstream is frozen until `until` resolves, because a started task cannot be canceled.
 */
function sendAll(
  deployment: Deployment,
  url: string,
  until?: () => Promise<void> | undefined,
): Promise<string[]> {
  return deployment.withFrozenUpstream(async () => {
    const paths = await Promise.all(
      requests.map(async ({ path, body }) => {
        const reply = await send(deployment, url, path, body).then(
          async (response) => ({ status: response.status, body: await response.json() }),
          () => undefined,
        );
        if (reply === undefined) return [];
        const refused = JSON.stringify(body).includes('[[reject]]');
        expect(reply.status, JSON.stringify(reply.body)).toBe(refused ? 400 : 200);
        return refused ? [] : [pollPath(path, reply.body)];
      }),
    );
    const pollPaths = paths.flat();
    const native = pollPaths.filter((path) => path.startsWith(nativePoll));
    await Promise.allSettled(native.map((path) => send(deployment, url, `${path}/cancel`, {})));
    await until?.();
    return pollPaths;
  });
}

/** Completes all tasks on another gateway. Checks each returned task, the ledger, and a new task. */
async function recover(deployment: Deployment, pollPaths: readonly string[]): Promise<void> {
  await deployment.releaseOrphans();
  const { url, gateway, close } = await deployment.serve();
  try {
    const { read } = gateway.store;
    const open = () => read.selectFrom('tasks').select('id').where('completed_at', 'is', null).execute();
    await vi.waitFor(async () => expect(await open()).toEqual([]), { timeout: 60_000, interval: 50 });
    for (const path of pollPaths) {
      const reply = JSON.stringify(await (await send(deployment, url, path)).json());
      expect(reply).toMatch(/"(completed|SUCCESS|SUCCEEDED|failed|FAILURE|CANCELED)"/);
      expect(reply).not.toMatch(/"UNKNOWN"|submission_interrupted/);
      const clips = [...reply.matchAll(/"clip_id":"([^"]+)"/g)].map(([, id]) => id);
      if (clips.length === 0) continue;
      const songs = await (await send(deployment, url, `/sigma/feed/${clips.join(',')}`)).json();
      expect(songs).toHaveLength(clips.length);
    }
    const tasks = await read.selectFrom('tasks').select(['request_id', 'state']).execute();
    const ledger = new Map((await reservationRows(gateway.store)).map((row) => [row.request_id, row.state]));
    const expectedStates = tasks.map(({ request_id, state }) => [
      request_id,
      state === 'completed' ? 'settled' : 'refunded',
    ]);
    expect(Object.fromEntries(ledger)).toMatchObject(Object.fromEntries(expectedStates));
    expect([...ledger.values()]).not.toContain('open');
    const logged = await logRows(gateway.store);
    expect(logged.map(({ request_id: id }) => id).toSorted()).toEqual([...ledger.keys()].toSorted());
    const used = logged.reduce((sum, row) => sum + row.quota, 0);
    if (deployment.token.hasWallet) await expectWallet(gateway.store, deployment, used);
    await expectBalanced(gateway.store, deployment.token);
    expect((await gateway.store.report('auditLedger', null)).problems).toEqual([]);
    expect((await send(deployment, url, '/v1/videos', requests[0]?.body)).status).toBe(200);
  } finally {
    await close(1_000);
  }
}
