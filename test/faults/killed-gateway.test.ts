import { describe, expect, test, vi } from 'vitest';
import { bookRows, expectBalanced, logRows } from '../store/books.ts';
import { type Engine, engines } from '../store/engines.ts';
import { GatewayProcess } from './gateway-process.ts';
import { nativePoll, pollPath } from './poll-path.ts';
import { makeSite, type Site } from './site.ts';

/** One task of each upstream protocol, one that lasts, one that fails, one that is refused, one that is canceled. */
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

/**
 * Every point is tried on both engines with the tasks alone, in test/tasks/crash.test.ts. Here a whole gateway comes back,
 * with all its protocols: one point of each stage.
 */
const points: readonly [engine: Engine, dieAt: string][] = [
  ['sqlite', 'submit:answered'],
  ['sqlite', 'cancel:answered'],
  ['postgres', 'poll:recorded'],
  ['postgres', 'settle:between'],
];

describe.each(points)('a gateway with its books in %s', { concurrent: true }, (engine, dieAt) => {
  test.runIf(engines.includes(engine))(
    `killed at ${dieAt} loses nothing and charges nothing twice`,
    { timeout: 240_000 },
    () =>
      atSite(engine, async (site) => {
        const child = await GatewayProcess.start({ ...site.options, dieAt });
        // All but the end of a task is reached while none has begun; later, a busy machine might find them all ended.
        const unbegun = !dieAt.startsWith('settle:');
        const told = await sendAll(site, child.url, () => (unbegun ? child.killed() : undefined));
        await child.killed();
        await revive(site, told);
      }),
  );
});

test.runIf(engines.includes('postgres'))(
  'a gateway that is killed again and again at any moment, does neither',
  { timeout: 240_000 },
  () =>
    atSite('postgres', async (site) => {
      const told: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const child = await GatewayProcess.start(site.options);
        const answered = sendAll(site, child.url);
        if (round === 1) await answered;
        // Somewhere in the middle: some have been answered, others not yet.
        else await Promise.race([answered, send(site, child.url, '/v1/models')]);
        child.kill();
        told.push(...(await answered));
        await child.killed();
      }
      await revive(site, told);
    }),
);

describe('an Idempotency-Key after a kill', { concurrent: true }, () => {
  const order = async (site: Site, url: string, name = 'the first') => {
    const { path, body } = requests[0] ?? { path: '' };
    const answer = await send(site, url, path, body, { 'idempotency-key': name });
    return (await answer.json()) as { id: string; status: string; error?: { code: string } };
  };

  test.each([
    ['submit:reserved', 'before the provider was asked', undefined],
    ['submit:marked', 'when the provider may have been asked', 'submission_interrupted'],
  ])('at %s, %s', { timeout: 240_000 }, (dieAt, _, told) =>
    atSite('sqlite', async (site) => {
      const child = await GatewayProcess.start({ ...site.options, dieAt });
      await Promise.all([expect(order(site, child.url)).rejects.toThrow(), child.killed()]);
      await site.releaseOrphans();
      const { url, gateway, close } = await site.serve();
      try {
        let task = await order(site, url);
        if (told !== undefined) {
          expect(task).toMatchObject({ status: 'failed', error: { code: told } });
          task = await order(site, url, 'another');
        }
        const state = async () => {
          const polled = await (await send(site, url, `/v1/videos/${task.id}`)).json();
          expect(polled).toMatchObject({ status: 'completed' });
        };
        await vi.waitFor(state, { timeout: 60_000, interval: 50 });
        const states = (await bookRows(gateway.store)).map((row) => row.state);
        expect(states.toSorted()).toEqual(['refunded', 'settled']);
        await expectBalanced(gateway.store, site.token);
      } finally {
        await close(1_000);
      }
    }),
  );
});

describe('an image job whose modal call is cut off', { concurrent: true }, () => {
  const jobOf = async (site: Site, url: string, id: string) => {
    const answer = await send(site, url, `/imgjob/task/${id}/fetch`);
    return (await answer.json()) as { status: string; state: string; buttons: { customId: string }[] };
  };
  const reaches = (site: Site, url: string, id: string, status: string) =>
    vi.waitFor(
      async () => {
        const job = await jobOf(site, url, id);
        expect(job.status).toBe(status);
        return job;
      },
      { timeout: 60_000, interval: 50 },
    );
  const submit = async (site: Site, url: string, call: string, body: object) => {
    const answer = await send(site, url, `/imgjob/submit/${call}`, body);
    const { result } = (await answer.json()) as { result: string };
    return result;
  };
  const press = async (site: Site, url: string, id: string, beginning: string) => {
    const { buttons } = await reaches(site, url, id, 'SUCCESS');
    const button = buttons.find(({ customId }) => customId.startsWith(beginning));
    return submit(site, url, 'action', { taskId: id, customId: button?.customId });
  };

  test.each([
    ['resume:noted', 'before the provider was asked, waits on', 'MODAL'],
    ['resume:answered', 'when the provider has taken it, goes on', 'SUCCESS'],
  ])('at %s, %s', { timeout: 240_000 }, (dieAt, _, status) =>
    atSite('sqlite', async (site) => {
      const child = await GatewayProcess.start({ ...site.options, dieAt });
      const grid = await submit(site, child.url, 'imagine', { prompt: 'A kite.' });
      const picture = await press(site, child.url, grid, 'IJ::JOB::upsample::1');
      const id = await press(site, child.url, picture, 'IJ::CustomZoom');
      const modal = { taskId: id, prompt: 'A kite. --zoom 1.5', state: 'order 7' };
      await Promise.all([expect(submit(site, child.url, 'modal', modal)).rejects.toThrow(), child.killed()]);
      await site.releaseOrphans();
      const { url, gateway, close } = await site.serve();
      try {
        expect(await reaches(site, url, id, status)).toMatchObject({ state: 'order 7' });
        if (status === 'MODAL') expect(await submit(site, url, 'modal', modal)).toBe(id);
        await reaches(site, url, id, 'SUCCESS');
        const states = (await bookRows(gateway.store)).map((row) => row.state);
        expect(states).toEqual(['settled', 'settled', 'settled']);
        await expectBalanced(gateway.store, site.token);
      } finally {
        await close(1_000);
      }
    }),
  );
});

test.runIf(engines.includes('postgres'))(
  'another gateway goes on with what a killed one was at, and gives back what its calls held',
  { timeout: 240_000 },
  () =>
    atSite('postgres', async (site) => {
      const other = await site.serve();
      try {
        const { read } = other.gateway.store;
        const open = () => read.selectFrom('ledger').select('kind').where('state', '=', 'open').execute();
        const child = await GatewayProcess.start(site.options);
        const speech = { model: 'alpha3-tts-flash', input: 'Hello. [[hang]]', voice: 'Aria' };
        const broken = send(site, child.url, '/v1/audio/speech', speech).catch(() => undefined);
        await vi.waitFor(async () => expect(await open()).toEqual([{ kind: 'request' }]), {
          timeout: 30_000,
        });
        const told = await sendAll(site, child.url);
        child.kill();
        await Promise.all([child.killed(), broken]);
        await vi.waitFor(async () => expect(await open()).toEqual([]), { timeout: 60_000, interval: 50 });
        for (const path of told) {
          const answer = JSON.stringify(await (await send(site, other.url, path)).json());
          expect(answer).toMatch(/"(completed|SUCCESS|SUCCEEDED|failed|FAILURE|CANCELED)"/);
        }
        await expectBalanced(other.gateway.store, site.token);
      } finally {
        await other.close(1_000);
      }
    }),
);

async function atSite(engine: Engine, use: (site: Site) => Promise<void>): Promise<void> {
  const site = await makeSite(engine);
  try {
    await use(site);
  } finally {
    await site.remove();
  }
}

function send({ key }: Site, url: string, path: string, body?: object, more?: object): Promise<Response> {
  return fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

/**
 * Sends all requests at once, and cancels what can be. Gives the poll paths of the tasks that were told; a dying
 * gateway tells fewer. The upstream stands still meanwhile, and until `until` resolves: a task that it had begun could
 * not be canceled any more.
 */
function sendAll(site: Site, url: string, until?: () => Promise<void> | undefined): Promise<string[]> {
  return site.atUpstreamStandstill(async () => {
    const paths = await Promise.all(
      requests.map(async ({ path, body }) => {
        const answer = await send(site, url, path, body).then(
          async (response) => ({ status: response.status, body: await response.json() }),
          () => undefined,
        );
        if (answer === undefined) return [];
        const refused = JSON.stringify(body).includes('[[reject]]');
        expect(answer.status, JSON.stringify(answer.body)).toBe(refused ? 400 : 200);
        return refused ? [] : [pollPath(path, answer.body)];
      }),
    );
    const told = paths.flat();
    const native = told.filter((path) => path.startsWith(nativePoll));
    await Promise.allSettled(native.map((path) => send(site, url, `${path}/cancel`, {})));
    await until?.();
    return told;
  });
}

/** Lets another gateway end every task, and looks at each that was told, at the books, and at a new task. */
async function revive(site: Site, told: readonly string[]): Promise<void> {
  await site.releaseOrphans();
  const { url, gateway, close } = await site.serve();
  try {
    const { read } = gateway.store;
    const open = () => read.selectFrom('tasks').select('id').where('completed_at', 'is', null).execute();
    await vi.waitFor(async () => expect(await open()).toEqual([]), { timeout: 60_000, interval: 50 });
    for (const path of told) {
      const answer = JSON.stringify(await (await send(site, url, path)).json());
      expect(answer).toMatch(/"(completed|SUCCESS|SUCCEEDED|failed|FAILURE|CANCELED)"/);
      expect(answer).not.toMatch(/"UNKNOWN"|submission_interrupted/);
      const clips = [...answer.matchAll(/"clip_id":"([^"]+)"/g)].map(([, id]) => id);
      if (clips.length === 0) continue;
      const songs = await (await send(site, url, `/sigma/feed/${clips.join(',')}`)).json();
      expect(songs).toHaveLength(clips.length);
    }
    const tasks = await read.selectFrom('tasks').select(['request_id', 'state']).execute();
    const ledger = new Map((await bookRows(gateway.store)).map((row) => [row.request_id, row.state]));
    const due = tasks.map(({ request_id, state }) => [
      request_id,
      state === 'completed' ? 'settled' : 'refunded',
    ]);
    expect(Object.fromEntries(ledger)).toMatchObject(Object.fromEntries(due));
    expect([...ledger.values()]).not.toContain('open');
    const logged = (await logRows(gateway.store)).map(({ request_id }) => request_id);
    expect(logged.toSorted()).toEqual([...ledger.keys()].toSorted());
    await expectBalanced(gateway.store, site.token);
    expect((await send(site, url, '/v1/videos', requests[0]?.body)).status).toBe(200);
  } finally {
    await close(1_000);
  }
}
