import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createOtherUserKey } from './asset-provider.ts';
import { GenericClient, type VideoTask } from './generic-client.ts';

type VideoTaskListReply = components['schemas']['VideoTaskListReply'];
type FamilyRecord = components['schemas']['FamilyRecord'];

const generations = '/v1/video/generations';
const eta = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };
const gamma = { model: 'gamma3.0-video-prime', prompt: 'A paper boat.', seconds: '2', size: '480p' };
const seedance = {
  model: 'epsilon-delta-2-0-260128',
  prompt: 'A paper boat.',
  seconds: '4',
  size: '480p',
  metadata: { return_last_frame: true },
};

let target: TestGateway;
let client: GenericClient;
let otherUser: GenericClient;
beforeAll(async () => {
  target = await startTestGateway();
  client = new GenericClient(target);
  otherUser = new GenericClient({ url: target.url, key: await createOtherUserKey(target) });
});
afterAll(() => target.close());

describe.concurrent('the states of a task', () => {
  test.for([
    ['eta', eta, '/v1/videos'],
    ['eta', eta, generations],
    ['gamma', gamma, '/v1/videos'],
    ['gamma', gamma, generations],
    ['seedance', seedance, '/v1/videos'],
  ] as const)('%s at %s', async ([, body, path], { expect }) => {
    const created = await client.create(body, path);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^task_[0-9a-f]{32}$/),
      object: 'video',
      status: 'queued',
      model: body.model,
      progress: 0,
      seconds: body.seconds,
      error: null,
    });
    expect(created.task_id).toBe(created.id);
    expect(created).not.toHaveProperty('completed_at');
    const { final, seen } = await client.waitForCompletion(created.id, path);
    const order = ['queued', 'in_progress', 'completed'];
    expect(seen.map(({ status }) => status)).toEqual(
      seen.map(({ status }) => status).toSorted((left, right) => order.indexOf(left) - order.indexOf(right)),
    );
    expect(seen.map(({ progress }) => progress)).toEqual(
      seen.map(({ progress }) => progress).toSorted((left, right) => left - right),
    );
    expect(final).toMatchObject({
      ...created,
      status: 'completed',
      progress: 100,
      updated_at: final.completed_at,
    });
    // Both are in whole seconds and can be equal.
    expect(final.completed_at).toBeGreaterThanOrEqual(created.created_at);
    expect(final.expires_at).toBeGreaterThan(final.completed_at ?? 0);
    expect(final.video_url).toMatch(/^http.*\.mp4/);
    expect(final.url).toBe(final.video_url);
    expect(final.content_url).toBe(`${target.url}/v1/videos/${created.id}/content`);
    const file = await fetch(final.content_url ?? '', { headers: { authorization: `Bearer ${target.key}` } });
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await file.body?.cancel();
    expect(final.output?.[0]).toEqual({ type: 'video', url: final.video_url });
    // A final state never changes.
    expect(await client.get(created.id, path)).toEqual(final);
  });

  test('gamma returns its metadata', async ({ expect }) => {
    const { id } = await client.create(gamma);
    const { metadata, video_url } = await client.waitForStatus(id, 'completed');
    expect(metadata).toMatchObject({ url: video_url, orig_prompt: gamma.prompt });
    expect(metadata?.usage).toMatchObject({ video_count: 1, duration: 2, fps: 30, SR: 480 });
  });

  test('a last frame is listed after the video', async ({ expect }) => {
    const { id } = await client.create(seedance);
    const { metadata, output } = await client.waitForStatus(id, 'completed');
    expect(metadata?.last_frame_url).toMatch(/^http/);
    expect(output?.[1]).toEqual({ type: 'last_frame', url: metadata?.last_frame_url });
  });

  test('seedance returns a family record at the generic route', async ({ expect }) => {
    const { id } = await client.create(seedance, generations);
    await vi.waitFor(
      async () => {
        const { body } = await client.call<FamilyRecord>('GET', `${generations}/${id}`);
        const place = { pointer: '#/components/schemas/FamilyRecord', schema: {} };
        expect(schemaProblems(place, body)).toEqual([]);
        const data = { task_id: id, status: 'SUCCESS', progress: '100%' };
        expect(body).toMatchObject({ code: 'success', data });
        expect(body.data.result_url).toMatch(/^http/);
      },
      { timeout: 15_000, interval: 50 },
    );
  });
});

/** Triggers of the sandbox, and the error code of the task. Undefined: the task completes. */
const errorByTrigger = {
  '[[sensitive]]': 'content_moderated',
  '[[expire]]': 'task_expired',
  '[[fail-late]]': 'internal',
  '[[unknown]]': 'task_lost',
  '[[no-status]]': undefined,
  '[[poll-error]]': undefined,
  '[[poll-malformed]]': undefined,
  '[[poll-drop]]': undefined,
  '[[poll-throttle]]': undefined,
} as const;

describe('the trigger', () => {
  const ids = new Map<string, string>();
  // All at once, because each task takes seconds.
  beforeAll(async () => {
    for (const prompt of Object.keys(errorByTrigger))
      ids.set(prompt, (await client.create({ ...eta, prompt })).id);
  });

  test.each(Object.entries(errorByTrigger))('%s leads to %s', async (trigger, code) => {
    const id = ids.get(trigger) ?? '';
    if (code === undefined) {
      await client.waitForStatus(id, 'completed');
      return;
    }
    const task = await client.waitForStatus(id, 'failed');
    expect(task.error).toEqual({ code, message: expect.stringMatching(/./) });
    expect(task.completed_at).toBeGreaterThanOrEqual(task.created_at);
    for (const field of ['url', 'video_url', 'content_url', 'output', 'expires_at'])
      expect(task).not.toHaveProperty(field);
  });
});

describe('access to a task', () => {
  let videos: VideoTask;
  let generic: VideoTask;
  beforeAll(async () => {
    videos = await client.create(eta);
    generic = await client.create(gamma, generations);
  });

  const expectNotFound = async (caller: GenericClient, method: string, path: string) => {
    const { status, body } = await caller.call(method, path);
    expect([status, body.error.code]).toEqual([404, 'resource_not_found']);
    return body.error.message;
  };

  test('each route polls only its own tasks', async () => {
    await expectNotFound(client, 'GET', `${generations}/${videos.id}`);
    await expectNotFound(client, 'GET', `/v1/videos/${generic.id}`);
    await expectNotFound(client, 'DELETE', `/v1/videos/${generic.id}`);
  });

  test('another user gets the error of an unknown task', async () => {
    const unknownId = `task_${'0'.repeat(32)}`;
    for (const [method, path] of [
      ['GET', '/v1/videos/ID'],
      ['GET', '/v1/videos/ID/content'],
      ['DELETE', '/v1/videos/ID'],
    ] as const) {
      const message = await expectNotFound(otherUser, method, path.replace('ID', videos.id));
      const other = await expectNotFound(otherUser, method, path.replace('ID', unknownId));
      expect(message.replace(videos.id, unknownId)).toBe(other);
    }
    await expectNotFound(otherUser, 'GET', `${generations}/${generic.id}`);
    expect((await client.get(videos.id)).id).toBe(videos.id);
  });

  test('a repeated idempotency key returns the same task, and refuses another request', async () => {
    const headers = { 'idempotency-key': 'boat-1' };
    const first = await client.call<VideoTask>('POST', '/v1/videos', eta, headers);
    const repeated = await client.call<VideoTask>('POST', '/v1/videos', eta, headers);
    expect(repeated.body.id).toBe(first.body.id);
    const other = await client.call('POST', '/v1/videos', { ...eta, seconds: '3' }, headers);
    expect([other.status, other.body.error.code]).toEqual([400, 'idempotency_key_reused']);
  });
});

describe('the list', () => {
  let listClient: GenericClient;
  let ids: string[];
  beforeAll(async () => {
    listClient = new GenericClient({ url: target.url, key: await createOtherUserKey(target) });
    ids = [];
    for (const seconds of [1, 2, 3, 4, 5]) ids.push((await listClient.create({ ...eta, seconds })).id);
    await listClient.create(gamma, generations);
  });
  const page = async (query: string) => {
    const { status, body } = await listClient.call<VideoTaskListReply>('GET', `/v1/videos${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    const pageIds = body.data.map(({ id }) => id);
    expect([body.first_id, body.last_id]).toEqual([pageIds[0] ?? null, pageIds.at(-1) ?? null]);
    return { pageIds, hasMore: body.has_more, last: body.last_id };
  };

  test('has the newest task first, and only tasks of its route', async () => {
    expect(await page('')).toMatchObject({ pageIds: ids.toReversed(), hasMore: false });
  });
  test('can have the oldest task first', async () => {
    expect(await page('?order=asc&limit=100')).toMatchObject({ pageIds: ids, hasMore: false });
  });
  test.each(['asc', 'desc'])('is paginated, %s', async (order) => {
    const found: string[] = [];
    let after = '';
    for (const [expectedMore, size] of [
      [true, 2],
      [true, 2],
      [false, 1],
    ] as const) {
      const { pageIds, hasMore, last } = await page(`?limit=2&order=${order}${after}`);
      expect([hasMore, pageIds.length]).toEqual([expectedMore, size]);
      found.push(...pageIds);
      after = `&after=${last}`;
    }
    expect(found).toEqual(order === 'asc' ? ids : ids.toReversed());
    expect(await page(`?order=${order}${after}`)).toEqual({ pageIds: [], hasMore: false, last: null });
  });
  test('refuses `after` with a task that is not in it', async () => {
    const foreignTask = await client.create(eta);
    for (const after of ['nothing', foreignTask.id]) {
      const { status, body } = await listClient.call('GET', `/v1/videos?after=${after}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toMatch(/^after: /);
    }
  });
  test('is empty for a user without tasks', async () => {
    const newUser = new GenericClient({ url: target.url, key: await createOtherUserKey(target) });
    const { body } = await newUser.call('GET', '/v1/videos');
    expect(body).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  });
});

test('a task can be deleted only once it has ended', async () => {
  const { id } = await client.create(eta);
  const tooEarly = await client.call('DELETE', `/v1/videos/${id}`);
  expect([tooEarly.status, tooEarly.body.error.code]).toEqual([400, 'task_not_completed']);
  await client.waitForStatus(id, 'completed');
  const { status, body } = await client.call('DELETE', `/v1/videos/${id}`);
  expect([status, body]).toEqual([200, { id, object: 'video.deleted', deleted: true }]);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/content'],
    ['DELETE', ''],
  ] as const)
    expect((await client.call(method, `/v1/videos/${id}${path}`)).status).toBe(404);
  const { body: list } = await client.call<VideoTaskListReply>('GET', '/v1/videos?limit=100');
  expect(list.data.map((task) => task.id)).not.toContain(id);
});

test('content_url is omitted if the Host header is not a valid host', async () => {
  const { id } = await client.create(eta);
  await client.waitForStatus(id, 'completed');
  const getWithHost = (host: string) =>
    new Promise<VideoTask>((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${target.key}` };
      const outgoing = httpRequest(`${target.url}/v1/videos/${id}`, { headers }, (response) => {
        text(response).then((body) => resolve(JSON.parse(body) as VideoTask), reject);
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  expect((await getWithHost('api.example:8443')).content_url).toBe(
    `http://api.example:8443/v1/videos/${id}/content`,
  );
  expect((await getWithHost('API.example:80')).content_url).toMatch(/^http:\/\/api\.example\/v1\//);
  expect(await getWithHost('a b"<>')).not.toHaveProperty('content_url');
  expect(await getWithHost('user@evil.example/path?')).not.toHaveProperty('content_url');
});
