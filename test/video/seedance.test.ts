import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  failure,
  finished,
  frame,
  genericPath,
  officialPath,
  seedance20,
  seedance25,
  sendJson,
  text,
  url,
  useSeedanceRig,
  videosPath,
} from './seedance-provider.ts';

const rig = useSeedanceRig();

describe('a request', () => {
  test('is forwarded translated, with the upstream’s model name and without its callback', async () => {
    const request = {
      model: seedance25,
      prompt: 'A cat walks',
      image: 'https://files.example/1.png',
      images: ['https://files.example/2.png'],
      reference_images: [{ url: 'https://files.example/3.png' }],
      video: { url: 'https://files.example/4.mp4' },
      size: '720P',
      seconds: '-1',
      omni_reference_task_type: 'edit',
      metadata: {
        video_url: ['https://files.example/5.mp4'],
        audio_url: 'https://files.example/6.mp3',
        ratio: 'adaptive',
        omni_reference_task_type: 'extend',
        watermark: false,
        return_last_frame: true,
        seed: 0,
        camera_fixed: false,
        draft: false,
        service_tier: 'flex',
        execution_expires_after: 3600,
        priority: 0,
        safety_identifier: 'user-1',
        callback_url: 'https://app.example/hook',
        output_format: 'mov',
        tools: [{ type: 'web_search' }],
        generate_audio: false,
      },
    };
    const image = (n: number) => ({
      type: 'image_url',
      image_url: { url: `https://files.example/${n}.png` },
      role: 'reference_image',
    });
    const video = (n: number) => ({
      type: 'video_url',
      video_url: { url: `https://files.example/${n}.mp4` },
      role: 'reference_video',
    });
    const audio = {
      type: 'audio_url',
      audio_url: { url: 'https://files.example/6.mp3' },
      role: 'reference_audio',
    };
    const official = {
      content: [text, image(1), image(2), image(3), video(4), video(5), audio],
      resolution: '720p',
      ratio: 'adaptive',
      duration: -1,
      omni_reference_task_type: 'edit',
      watermark: false,
      return_last_frame: true,
      seed: 0,
      camera_fixed: false,
      draft: false,
      service_tier: 'flex',
      execution_expires_after: 3600,
      priority: 0,
      safety_identifier: 'user-1',
      output_format: 'mov',
      tools: [{ type: 'web_search' }],
      generate_audio: false,
    };
    await rig.create(request, genericPath);
    await rig.create(request, videosPath);
    await rig.create({ model: seedance25, ...official, callback_url: 'https://app.example/hook' });
    const sent = { model: 'other-name', ...official };
    expect(rig.sent()).toEqual([sent, sent, sent]);
    const [{ method, path, headers } = { method: '', path: '', headers: {} }] = rig.upstream.changes();
    expect([method, path, headers.authorization]).toEqual(['POST', officialPath, 'Bearer upstream-key']);
    const stored = await rig.gateway.gateway.store.read
      .selectFrom('tasks')
      .select(['callback_url', 'expected_units'])
      .orderBy('created_at', 'desc')
      .limit(3)
      .execute();
    expect(stored).toEqual(Array(3).fill({ callback_url: 'https://app.example/hook', expected_units: 30 }));
  });

  test('returns the id, and the safety identifier if it was sent', async () => {
    const request = { model: seedance20, content: [text] };
    expect(await (await rig.post(officialPath, request)).json()).toEqual({ id: expect.any(String) });
    const named = await rig.post(officialPath, { ...request, safety_identifier: 'user-1' });
    expect(await named.json()).toEqual({ id: expect.any(String), safety_identifier: 'user-1' });
  });
});

describe('a state', () => {
  const rows: [string, object, string, string, string, string][] = [
    ['queued', {}, 'queued', 'queued', 'QUEUED', '10%'],
    ['running', {}, 'running', 'in_progress', 'IN_PROGRESS', '50%'],
    ['succeeded', finished, 'succeeded', 'completed', 'SUCCESS', '100%'],
    ['failed', { error: failure }, 'failed', 'failed', 'FAILURE', '100%'],
    ['expired', {}, 'expired', 'failed', 'FAILURE', '100%'],
    ['cancelled', {}, 'cancelled', 'failed', 'FAILURE', '100%'],
    ['of an unknown kind', {}, 'queued', 'queued', 'QUEUED', '10%'],
  ];
  test.each(rows)(
    '%s is returned in every format',
    async (status, rest, official, generic, family, progress) => {
      const ids = [await rig.create(), await rig.create({}, videosPath), await rig.create({}, genericPath)];
      const [first = '', second = '', third = ''] = ids;
      rig.taskState = { ...rest, status };
      expect(await rig.poll(first)).toMatchObject({ id: first, model: seedance25, status: official });
      expect(await rig.poll(second, videosPath)).toMatchObject({ id: second, status: generic });
      const record = await rig.poll(third, genericPath);
      expect(record).toMatchObject({
        code: 'success',
        data: { task_id: third, status: family, progress, data: { id: third, status: official } },
      });
    },
  );

  test('of an unknown kind leaves a running task running', async () => {
    const id = await rig.create();
    rig.taskState = { status: 'running' };
    await rig.poll(id);
    rig.taskState = { status: 'resting' };
    expect(await rig.poll(id)).toMatchObject({ status: 'running' });
  });

  test('is not returned to other routes', async () => {
    const id = await rig.create();
    const other = await rig.create({}, genericPath);
    for (const path of [genericPath, videosPath, '/api/v3/contents/generations/tasks/none'])
      expect((await rig.send('GET', `${path}/${id}`)).status).toBe(404);
    expect((await rig.send('GET', `${officialPath}/${other}`)).status).toBe(404);
    expect((await rig.send('GET', `${officialPath}/${rig.upstreamId}`)).status).toBe(404);
  });
});

describe('a finished task', () => {
  test('returns the upstream’s snapshot with the public id and the URL in three fields', async () => {
    const id = await rig.create({ safety_identifier: 'user-1' });
    rig.taskState = { ...finished, draft_task_id: 'cgt-draft', secret: rig.upstream.url };
    const task = await rig.poll(id);
    const { created_at: _, updated_at: __, ...snapshot } = finished;
    expect(task).toEqual({
      ...snapshot,
      usage: { ...snapshot.usage, cost: 50 },
      safety_identifier: 'user-1',
      id,
      model: seedance25,
      video_url: url,
      outputs: [url],
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect(task.created_at).toBeGreaterThan(1_700_000_000);
  });

  test('is a generic object with all facts of the video', async () => {
    const id = await rig.create({ size: '720P' }, videosPath);
    rig.taskState = finished;
    expect(await rig.poll(id, videosPath)).toMatchObject({
      id,
      seconds: '5',
      size: '720P',
      url,
      video_url: url,
      output: [
        { type: 'video', url },
        { type: 'last_frame', url: frame },
      ],
      metadata: {
        usage: finished.usage,
        last_frame_url: frame,
        output_format: 'mov',
        duration: 5,
        duration_seconds: 5,
        resolution: '720p',
        ratio: '16:9',
        seed: 0,
        generate_audio: false,
      },
    });
  });

  test('is a family record with snapshot, times and prompt', async () => {
    const id = await rig.create({}, genericPath);
    rig.taskState = { status: 'running' };
    const { data: running } = await rig.poll(id, genericPath);
    expect(running).toMatchObject({ finish_time: 0, data: { status: 'running', error: null } });
    rig.taskState = finished;
    const { data } = (await rig.poll(id, genericPath)) as { data: Record<string, number> };
    expect(data).toMatchObject({
      task_id: id,
      status: 'SUCCESS',
      result_url: url,
      action: 'generate',
      platform: 'seedance',
      properties: { input: 'A cat walks' },
      data: {
        id,
        model: seedance25,
        status: 'succeeded',
        content: { video_url: url, last_frame_url: frame },
      },
    });
    const { submit_time = 0, start_time = 0, finish_time = 0 } = data;
    expect(submit_time).toBeGreaterThan(1_700_000_000);
    expect(start_time).toBeGreaterThan(submit_time);
    expect(finish_time).toBeGreaterThan(start_time);
  });

  test.each<[string, object]>([
    ['content.video_url', { content: { video_url: url }, outputs: ['https://files.example/other.mp4'] }],
    ['outputs[0]', { outputs: [url, 'https://files.example/other.mp4'] }],
    ['outputs[0].url', { outputs: [{ url }] }],
    ['video_url', { video_url: url, content: null, outputs: [] }],
  ])('has its video from any field of the channel: %s', async (_, fields) => {
    const id = await rig.create();
    rig.taskState = { status: 'succeeded', ...fields };
    expect(await rig.poll(id)).toMatchObject({ content: { video_url: url }, video_url: url, outputs: [url] });
  });

  test.each<[string, object]>([
    ['no URL', {}],
    ['an invalid URL', { content: { video_url: 'file:///etc/passwd' }, outputs: [7] }],
  ])('with %s fails', async (_, fields) => {
    const id = await rig.create();
    rig.taskState = { status: 'succeeded', ...fields };
    expect(await rig.poll(id)).toMatchObject({
      status: 'failed',
      error: { code: 'video_generation_failed', message: expect.any(String) },
    });
  });

  test('matches the contract for any response of the upstream', async () => {
    const id = await rig.create();
    rig.taskState = {
      ...finished,
      content: { video_url: url, last_frame_url: 7 },
      usage: { completion_tokens: 'many', total_tokens: -1, tool_usage: [] },
      seed: 'x',
      duration: '5.4',
      frames: {},
      ratio: 1,
      generate_audio: 'yes',
      tools: 'web_search',
      priority: 1e300,
      model: { name: 'x' },
      id: 7,
    };
    const task = await rig.poll(id);
    expect(task).toMatchObject({
      id,
      model: seedance25,
      content: { video_url: url },
      duration: 5,
      usage: {},
    });
    for (const name of ['seed', 'frames', 'ratio', 'generate_audio', 'tools', 'priority'])
      expect(task).not.toHaveProperty(name);
  });

  test('contains no id of the upstream, even in an error message', async () => {
    const id = await rig.create();
    const providerMessage = `Task ${rig.upstreamId} failed`;
    rig.taskState = { status: 'failed', error: { code: 'InternalServiceError', message: providerMessage } };
    const task = await rig.poll(id);
    expect(task.error).toEqual({ code: 'InternalServiceError', message: `Task ${id} failed` });
  });
});

describe('the list', () => {
  const day = 24 * 3_600_000;
  const list = async (query: string) => {
    const { status, body } = await rig.send('GET', `${officialPath}?page_size=100&${query}`);
    expect(status).toBe(200);
    const { items, total } = body as unknown as { items: { id: string }[]; total: number };
    return { ids: items.map(({ id }) => id), total };
  };

  test('filters by state, model and tier, and omits tasks after seven days', async () => {
    await rig.pass(8 * day);
    const idByStatus: Record<string, string> = {};
    for (const [status, rest] of Object.entries({
      succeeded: finished,
      failed: { error: failure },
      expired: {},
    })) {
      const id = await rig.create();
      rig.taskState = { ...rest, status };
      await rig.poll(id);
      idByStatus[status] = id;
    }
    idByStatus.running = await rig.create({ service_tier: 'flex' });
    rig.taskState = { status: 'running' };
    await rig.poll(idByStatus.running);
    rig.taskState = { status: 'queued' };
    idByStatus.cancelled = await rig.create({ model: seedance20 });
    await rig.send('DELETE', `${officialPath}/${idByStatus.cancelled}`);
    idByStatus.queued = await rig.create({ model: seedance20, service_tier: 'default' });
    await rig.create({}, genericPath);

    const all = ['queued', 'cancelled', 'running', 'expired', 'failed', 'succeeded'].map(
      (name) => idByStatus[name],
    );
    expect(await list('')).toEqual({ ids: all, total: 6 });
    for (const [status, id] of Object.entries(idByStatus))
      expect(await list(`filter.status=${status}`), status).toEqual({ ids: [id], total: 1 });
    expect((await list(`filter.model=${seedance20}`)).ids).toEqual([idByStatus.queued, idByStatus.cancelled]);
    expect((await list('filter.service_tier=flex')).ids).toEqual([idByStatus.running]);
    expect((await list('filter.service_tier=default')).total).toBe(5);
    const two = `filter.task_ids=${idByStatus.failed}&filter.task_ids=${idByStatus.queued}&filter.task_ids=none`;
    expect((await list(two)).ids).toEqual([idByStatus.queued, idByStatus.failed]);
    expect((await list(`${two}&filter.status=failed`)).ids).toEqual([idByStatus.failed]);
    expect(await list('page_num=2')).toEqual({ ids: [], total: 6 });
    await rig.pass(7 * day);
    expect(await list('')).toEqual({ ids: [], total: 0 });
  });

  test('does not mistake a prompt for a tier', async () => {
    await rig.pass(8 * day);
    await rig.create({ content: [{ type: 'text', text: '"service_tier":"flex"' }] });
    expect((await list('filter.service_tier=flex')).total).toBe(0);
    expect((await list('filter.service_tier=default')).total).toBe(1);
  });
});

describe('a family record', () => {
  test('is SUBMITTED until the provider accepts the task, and then QUEUED', async () => {
    const submission = Promise.withResolvers<ServerResponse>();
    rig.overrides.set('POST', (_request, response) => submission.resolve(response));
    const creation = rig.create({}, genericPath);
    const provider = await submission.promise;
    const { read } = rig.gateway.gateway.store;
    const newest = read.selectFrom('tasks').select('id').orderBy('created_at', 'desc').limit(1);
    const { id } = await newest.executeTakeFirstOrThrow();
    const record = async () => (await rig.send('GET', `${genericPath}/${id}`)).body.data;
    expect(await record()).toMatchObject({
      task_id: id,
      status: 'SUBMITTED',
      progress: '10%',
      start_time: 0,
    });
    sendJson(provider, 200, { id: 'cgt-20260301120000-later' });
    expect(await creation).toBe(id);
    expect(await record()).toMatchObject({ task_id: id, status: 'QUEUED' });
  });
});

describe('a draft', () => {
  test('has the upstream’s id in requests to the upstream, and the public id in responses', async () => {
    const draft = await rig.create({ draft: true });
    const upstreamId = rig.upstreamId;
    rig.taskState = finished;
    await rig.poll(draft);
    const item = (id: string) => ({ type: 'draft_task', draft_task: { id } });
    const id = await rig.create({ content: [item(draft)] });
    expect(rig.sent().at(-1)).toMatchObject({ content: [item(upstreamId)] });
    rig.taskState = { ...finished, draft_task_id: upstreamId };
    const task = await rig.poll(id);
    expect(task).toMatchObject({ id, draft_task_id: draft });
    expect(JSON.stringify(task)).not.toContain('cgt-');
  });
});
