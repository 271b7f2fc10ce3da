import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post } from './ledger.ts';

const seedance = 'epsilon-delta-2-0-260128';
const gamma = 'gamma3.0-video';
const video_url = 'https://files.example/cat.mp4';
const official = {
  create: '/api/v3/contents/generations/tasks',
  body: { model: seedance, content: [{ type: 'text', text: 'A cat.' }], duration: 5 },
  usage: ['usage'],
};
const native = {
  create: '/api/v1/services/aigc/video-generation/video-synthesis',
  poll: '/api/v1/tasks',
  body: { model: gamma, input: { prompt: 'A cat.' }, parameters: { duration: 5 } },
  usage: ['usage'],
};
const generic = (create: string, model: string, usage: string[]) => ({
  create,
  body: { model, prompt: 'A cat.', seconds: '5' },
  usage,
});
const videos = '/v1/videos';
const generations = '/v1/video/generations';
interface Format {
  create: string;
  poll?: string;
  body: object;
  usage: string[];
}
const formats: [string, Format][] = [
  ['official', official],
  ['native', native],
  ['/v1/videos of gamma', generic(videos, gamma, ['metadata', 'usage'])],
  ['/v1/videos of Seedance', generic(videos, seedance, ['metadata', 'usage'])],
  ['/v1/video/generations of gamma', generic(generations, gamma, ['metadata', 'usage'])],
  ['/v1/video/generations of Seedance', generic(generations, seedance, ['data', 'data', 'usage'])],
];

describe.each(engines)('the cost in the usage of a task on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let seconds: number;
  let outcome: 'completed' | 'without usage' | 'failed';

  beforeAll(async () => {
    let created = 0;
    upstream = await startUpstream(({ method, path }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const body = path.startsWith('/api/v3/') ? officialAnswer() : nativeAnswer();
      if (method === 'POST') created += 1;
      const made = { id: `cgt-${created}`, output: { task_id: `task-${created}`, task_status: 'PENDING' } };
      response.end(JSON.stringify(method === 'POST' ? made : body));
    });
    const only = (id: string) => [{ id, upstream: undefined }];
    target = await startTestGateway(
      {
        sandbox: false,
        channels: [
          channelTo(upstream.url, { name: 'seedance', protocol: 'official', models: only(seedance) }),
          channelTo(upstream.url, { name: 'gamma', models: only(gamma) }),
        ],
        groups: { default: { models: ['*'], ratio: 1 } },
        prices: { '*': 7 },
      },
      engine,
    );
  });
  beforeEach(() => {
    [seconds, outcome] = [4, 'completed'];
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  function officialAnswer(): object {
    if (outcome === 'failed') return { status: 'failed', error: { code: 'x', message: 'y' } };
    const usage = { completion_tokens: 900, total_tokens: 900 };
    const done = { status: 'succeeded', content: { video_url }, duration: seconds };
    return outcome === 'completed' ? { ...done, usage } : done;
  }

  function nativeAnswer(): object {
    if (outcome === 'failed') return { output: { task_status: 'FAILED', code: 'x', message: 'y' } };
    const done = { output: { task_status: 'SUCCEEDED', video_url } };
    return outcome === 'completed' ? { ...done, usage: { output_video_duration: seconds } } : done;
  }

  /** Creates a task and returns it after its end, with its log entry. */
  async function runTask({ create, poll = create, body, usage: path }: Format, quota = 1_000) {
    const { key } = await makeKey(target, { quota });
    const created = (await (await post(target.url, key, create, body)).json()) as {
      id?: string;
      task_id?: string;
      output?: { task_id: string };
    };
    const id = created.id ?? created.task_id ?? created.output?.task_id;
    const entry = await vi.waitFor(async () => {
      await target.gateway.tasks.runDue();
      const [found] = (await logRows(target)).filter(({ task_id }) => task_id === id);
      if (found === undefined) throw new Error('the task is not final');
      return found;
    });
    const response = await fetch(`${target.url}${poll}/${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    const usage = path.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      JSON.parse(text),
    );
    return { entry, text, usage };
  }

  test.each(formats)('%s equals the quota of the log entry', async (_, format) => {
    const { entry, usage } = await runTask(format);
    expect(entry.quota).toBe(4 * 7);
    expect(usage).toMatchObject({ cost: entry.quota });
  });

  test('is the charge without the debt', async () => {
    seconds = 8;
    const { entry, usage } = await runTask(native, 5 * 7);
    expect(entry).toMatchObject({ quota: 35, debt: 21 });
    expect(usage).toMatchObject({ cost: 35 });
  });

  test.each(formats)(
    '%s is stated without a reported usage, and absent after a failure',
    async (_, format) => {
      outcome = 'without usage';
      const { entry, usage } = await runTask(format);
      expect(usage).toEqual({ cost: entry.quota });
      outcome = 'failed';
      expect((await runTask(format)).text).not.toContain('"cost"');
    },
  );
});

const song = { mv: 'chirp-hawk', prompt: 'A song about the sea' };

/** Tasks whose providers report no usage: their creation, and the address and the place of the charge of a task. */
const withoutUsage: [string, { create: string; poll: string; body: object; usage: string[] }][] = [
  [
    'eta',
    {
      create: videos,
      poll: `${videos}/ID`,
      body: { model: 'eta-imagine-video', prompt: 'A cat.', seconds: '2' },
      usage: ['metadata', 'usage'],
    },
  ],
  [
    '3D objects',
    {
      create: '/api/v1/services/aigc/video-generation/3d-generation',
      poll: '/api/v1/tasks/ID',
      body: { model: 'theta-3d', input: { prompt: 'A teapot.' } },
      usage: ['usage'],
    },
  ],
  ['music', { create: '/sigma/submit/music', poll: '/sigma/fetch/ID', body: song, usage: ['data', 'usage'] }],
  [
    'lyrics',
    {
      create: '/sigma/submit/lyrics',
      poll: '/sigma/fetch/ID',
      body: { prompt: 'The sea' },
      usage: ['data', 'usage'],
    },
  ],
  [
    'music in format A',
    {
      create: '/sigma/v1/music',
      poll: '/sigma/v1/music/ID',
      body: { input: song },
      usage: ['data', 'usage'],
    },
  ],
  [
    'images',
    {
      create: '/imgjob/submit/imagine',
      poll: '/imgjob/task/ID/fetch',
      body: { prompt: 'A cat.' },
      usage: ['usage'],
    },
  ],
];

describe('the cost of a task without usage', () => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({ prices: { '*': 7 } });
  });
  afterAll(() => target.close());

  test.each(withoutUsage)(
    'of %s equals the quota of the log entry',
    async (_, { create, poll, body, usage }) => {
      const { key, id: keyId } = await makeKey(target, { quota: 1_000 });
      expect((await post(target.url, key, create, body)).status).toBe(200);
      const entry = await vi.waitFor(async () => {
        await target.gateway.tasks.runDue();
        const [found] = (await logRows(target)).filter(({ token_id }) => token_id === keyId);
        if (found === undefined) throw new Error('the task is not final');
        return found;
      });
      expect(entry.quota).toBeGreaterThan(0);
      const response = await fetch(target.url + poll.replace('ID', entry.task_id ?? ''), {
        headers: { authorization: `Bearer ${key}` },
      });
      const shown: unknown = await response.json();
      const charge = usage.reduce<unknown>(
        (value, name) => (value as Record<string, unknown> | undefined)?.[name],
        shown,
      );
      expect(charge).toEqual({ cost: entry.quota });
    },
  );
});
