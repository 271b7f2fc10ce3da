import { describe, expect, test } from 'vitest';
import { Channels } from '../../server/channels/channels.ts';
import { makeKey } from '../server/ledger.ts';
import { pair, song } from './sigma-answers.ts';
import { useSigmaRig } from './sigma-provider.ts';

const rig = useSigmaRig();
const musicPath = '/sigma/submit/music';
const aPath = '/sigma/v1/music';

/** Creates songs on the far account. Returns them and the upstream id of their task. */
async function onFar() {
  const { channels } = rig.gateway.gateway;
  const near = channels.named('near');
  near?.health.startAttempt({ model: 'sigma_music' }).fail('server_error', 60);
  const songs = await rig.songs();
  near?.health.reset();
  expect(rig.sent().at(-1)?.channel).toBe('far');
  rig.upstream.seen.length = 0;
  return { songs, upstreamTask: rig.upstreamId, taskId: await taskOf(songs[0]?.id) };
}

async function taskOf(clip = ''): Promise<string> {
  const { read } = rig.gateway.gateway.store;
  const row = await read
    .selectFrom('clips')
    .select('task_id')
    .where('id', '=', clip)
    .executeTakeFirstOrThrow();
  return row.task_id;
}

async function createOtherUserKey(): Promise<string> {
  const { store } = rig.gateway.gateway;
  const stranger = await store.run('createUser', { name: 'stranger', group: 'default', now: 1 });
  return (await makeKey(rig.gateway, { quota: 1000, userId: stranger.id })).key;
}

describe('a song is continued', () => {
  test.each(['the first clip', 'the second clip', 'its task'])('by %s, on its account', async (by) => {
    const { songs, upstreamTask, taskId } = await onFar();
    const [first, second] = songs;
    const continue_clip_id = { 'the first clip': first?.id, 'the second clip': second?.id }[by] ?? taskId;
    const upstreamClip = by === 'the second clip' ? 'clip-two' : 'clip-one';
    const asked = { prompt: 'Come back', continue_clip_id, continue_at: 30, title: 'On' };
    await rig.submit(asked);
    await rig.submit({ ...asked, task_id: taskId });
    expect((await rig.send('POST', aPath, { input: asked })).status).toBe(200);
    const body = { ...asked, mv: 'chirp-hawk', continue_clip_id: upstreamClip, task_id: upstreamTask };
    expect(rig.sent()).toEqual(Array(3).fill({ path: musicPath, body, channel: 'far' }));
  });

  test('or separated into two or twelve stems', async () => {
    const { songs, upstreamTask } = await onFar();
    const continue_clip_id = songs[1]?.id;
    await rig.submit({ prompt: undefined, task: 'gen_stem', continue_clip_id });
    await rig.submit({ prompt: undefined, task: 'gen_stem', stem_task: 'twelve', continue_clip_id });
    const body = {
      task: 'gen_stem',
      mv: 'chirp-auk',
      prompt: '',
      continue_clip_id: 'clip-two',
      task_id: upstreamTask,
      make_instrumental: true,
      stem_type_id: 91,
      generation_type: 'TEXT',
    };
    expect(rig.sent().map((one) => one.body)).toEqual([
      { ...body, stem_task: 'two', stem_type_group_name: 'Two' },
      { ...body, stem_task: 'twelve', stem_type_group_name: 'Twelve' },
    ]);
    expect(rig.sent().map(({ channel }) => channel)).toEqual(['far', 'far']);
  });

  test('in its own upstream task if there were several', async () => {
    rig.instead.set(`POST ${musicPath}`, [200, { code: 200, data: ['one', 'two'] }]);
    const id = await rig.submit();
    const record = (task_id: string, clip: string) => ({ task_id, status: 'SUCCESS', data: [song(clip)] });
    const data = [record('one', 'clip-of-one'), record('two', 'clip-of-two')];
    rig.instead.set('POST /sigma/fetch', [200, { code: 'success', data }]);
    const songs = (await rig.poll(id)).data as { id: string }[];
    rig.instead.clear();
    rig.upstream.seen.length = 0;
    await rig.submit({ continue_clip_id: songs[1]?.id });
    await rig.submit({ task_id: id });
    expect(rig.sent()).toMatchObject([
      { body: { continue_clip_id: 'clip-of-two', task_id: 'two' } },
      { body: { task_id: 'one' } },
    ]);
  });

  test('as soon as it is complete, before its task', async () => {
    const id = await rig.submit();
    rig.reported = { status: 'IN_PROGRESS', data: [song('done'), song('b', { status: 'streaming' })] };
    const [done, other] = (await rig.poll(id)).data as { id: string }[];
    await rig.submit({ continue_clip_id: done?.id });
    expect(rig.sent().at(-1)?.body.continue_clip_id).toBe('done');
    expect(await rig.send('POST', musicPath, { continue_clip_id: other?.id })).toMatchObject({
      status: 409,
      body: { error: { code: 'resource_not_ready', message: expect.stringContaining('continue_clip_id: ') } },
    });
  });

  const keyed = (path: string) => ({ 'idempotency-key': `gone since, at ${path}` });
  test.each<[string, (path: string) => Record<string, string>, (path: string) => Record<string, string>]>([
    ['idempotency key', keyed, keyed],
    [
      'chain of retries of an SDK',
      () => ({ 'x-stainless-retry-count': '0' }),
      () => ({ 'x-stainless-retry-count': '1' }),
    ],
  ])('once per %s, also after it is deleted', async (_, headersOfFirst, headersOfRepeat) => {
    const requests = (id: string | undefined) =>
      [
        [musicPath, { prompt: 'On', continue_clip_id: id }],
        [aPath, { input: { prompt: 'On', continue_clip_id: id } }],
      ] as const;
    const { store } = rig.gateway.gateway;
    for (const index of [0, 1]) {
      const [song, other] = await rig.songs();
      const [path, body] = requests(song?.id)[index] ?? [musicPath, {}];
      const headers = headersOfRepeat(path);
      const first = await rig.send('POST', path, body, { headers: headersOfFirst(path) });
      expect(first.status).toBe(200);
      const source = await taskOf(song?.id);
      const { user_id: userId } = await rig.stored(source);
      await store.run('removeTask', { id: source, userId, format: 'music' });
      rig.upstream.seen.length = 0;
      const again = await rig.send('POST', path, body, { headers });
      expect({ ...again.body, exec_time: 0 }).toEqual({ ...first.body, exec_time: 0 });
      const gone = { status: 404, body: { error: { code: 'resource_not_found' } } };
      expect(await rig.send('POST', path, body)).toMatchObject(gone);
      const [, another] = requests(other?.id)[index] ?? [];
      expect(await rig.send('POST', path, another ?? {}, { headers })).toMatchObject(gone);
      const stranger = { headers, key: await createOtherUserKey() };
      expect(await rig.send('POST', path, body, stranger)).toMatchObject(gone);
      expect(rig.sent()).toEqual([]);
    }
  });

  test('also by fields that the gateway does not know', async () => {
    const { songs, upstreamTask } = await onFar();
    await rig.submit({ task: 'cover', cover_clip_id: songs[0]?.id });
    expect(rig.sent()).toMatchObject([
      { channel: 'far', body: { cover_clip_id: 'clip-one', task_id: upstreamTask } },
    ]);
  });

  test('and the new song refers to it by its public id', async () => {
    const [first] = await rig.songs();
    const history = [{ id: 'clip-one', continue_at: 30, source: 'web' }, { id: 'unknown' }];
    const metadata = { stem_from_id: 'clip-one', audio_prompt_id: 'clip-one', history };
    const [next] = await rig.songs([song('next', { metadata })], { continue_clip_id: first?.id });
    expect(next?.metadata).toEqual({
      stem_from_id: first?.id,
      audio_prompt_id: first?.id,
      history: [{ id: first?.id, continue_at: 30 }],
    });
  });

  test('and an immediate or later failure names it by its public id', async () => {
    const [first] = await rig.songs();
    const said = { code: 'bad_clip', message: `clip-one of ${rig.upstreamId} is too short`, data: null };
    const words = `${first?.id} of ${await taskOf(first?.id)} is too short`;
    rig.instead.set(`POST ${musicPath}`, [400, said]);
    const refused = await rig.send('POST', musicPath, { continue_clip_id: first?.id });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'bad_clip', message: words } } });
    rig.instead.clear();
    const id = await rig.submit({ continue_clip_id: first?.id });
    rig.reported = { status: 'FAILURE', fail_reason: said.message };
    expect((await rig.poll(id)).fail_reason).toBe(words);
  });
});

describe('no upstream request is sent', () => {
  const refused = async (body: object, status: number, code: string, field: string, key?: string) => {
    rig.upstream.seen.length = 0;
    for (const [path, sent, name] of [
      [musicPath, body, field],
      [aPath, { input: body }, `input.${field}`],
    ] as const) {
      const response = await rig.send('POST', path, sent, key === undefined ? {} : { key });
      const message = expect.stringMatching(new RegExp(`^${name}: `));
      expect(response).toMatchObject({ status, body: { error: { code, message } } });
    }
    expect(rig.sent()).toEqual([]);
  };

  test('for a song or a task that does not exist', async () => {
    for (const field of ['continue_clip_id', 'cover_clip_id', 'task_id'])
      for (const id of ['none', 'clip-one', rig.upstreamId, `task_${'0'.repeat(32)}`])
        await refused({ task: 'any', [field]: id }, 404, 'resource_not_found', field);
  });

  test('for those of another user', async () => {
    const [first] = await rig.songs();
    const taskId = await taskOf(first?.id);
    const key = await createOtherUserKey();
    await refused({ continue_clip_id: first?.id }, 404, 'resource_not_found', 'continue_clip_id', key);
    await refused({ continue_clip_id: taskId }, 404, 'resource_not_found', 'continue_clip_id', key);
    await refused({ task: 'any', task_id: taskId }, 404, 'resource_not_found', 'task_id', key);
  });

  test('for a task that does not contain the song', async () => {
    const [[first], [second]] = [await rig.songs(), await rig.songs()];
    const task_id = await taskOf(second?.id);
    await refused({ continue_clip_id: first?.id, task_id }, 400, 'invalid_request', 'task_id');
  });

  test('for songs on two accounts', async () => {
    const { songs } = await onFar();
    const [near] = await rig.songs();
    const body = { continue_clip_id: songs[0]?.id, cover_clip_id: near?.id };
    await refused(body, 400, 'invalid_request', 'cover_clip_id');
  });

  test('for an unfinished or failed song', async () => {
    const id = await rig.submit();
    await refused({ continue_clip_id: id }, 409, 'resource_not_ready', 'continue_clip_id');
    rig.reported = { status: 'IN_PROGRESS', data: pair };
    const [first] = (await rig.poll(id)).data as { id: string }[];
    rig.reported = { status: 'FAILURE', fail_reason: 'It was held back.' };
    await rig.poll(id);
    for (const one of [id, first?.id ?? ''])
      await refused({ continue_clip_id: one }, 400, 'invalid_request', 'continue_clip_id');
    const [, other] = await rig.songs([song('a'), song('b', { status: 'error' })]);
    await refused({ continue_clip_id: other?.id }, 400, 'invalid_request', 'continue_clip_id');
  });

  test('for lyrics', async () => {
    const id = await rig.submitLyrics();
    rig.reported = { status: 'SUCCESS', data: { id: 'l', status: 'complete', title: 't', text: 'a' } };
    await rig.poll(id);
    await refused({ continue_clip_id: id }, 400, 'invalid_request', 'continue_clip_id');
  });

  test('for too many songs', async () => {
    const fields = Array.from({ length: 40_000 }, (_, index) => [`f${index}_clip_id`, 'none']);
    const many = await rig.send('POST', musicPath, { task: 'any', ...Object.fromEntries(fields) });
    expect(many).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    const eleven = { task: 'any', ...Object.fromEntries(fields.slice(0, 11)) };
    await refused(eleven, 400, 'invalid_request', 'f10_clip_id');
  });

  test('for an invalid id', async () => {
    await refused({ task: 'any', cover_clip_id: 3 }, 400, 'invalid_request', 'cover_clip_id');
  });

  test('for a song whose account is removed or not allowed for the key', async () => {
    const { songs } = await onFar();
    const { gateway } = rig.gateway;
    const settings = ['near', 'far'].flatMap((name) => gateway.channels.named(name)?.settings ?? []);
    const [near, far] = settings;
    if (near === undefined || far === undefined) throw new Error('there are two');
    const { channels } = gateway;
    const body = { continue_clip_id: songs[0]?.id };
    const withChannels = (...left: typeof settings) => {
      Object.assign(gateway, { channels: new Channels(left, () => 0) });
    };
    try {
      withChannels(near);
      const gone = { status: 503, body: { error: { code: 'get_channel_failed' } } };
      await refused(body, 503, 'get_channel_failed', 'continue_clip_id');
      for (const call of ['act/wav', 'act/timing'])
        expect(await rig.send('GET', `/sigma/${call}/${songs[0]?.id}`)).toMatchObject(gone);
      withChannels(near, { ...far, groups: ['others'] });
      await refused(body, 503, 'get_channel_failed', 'continue_clip_id');
    } finally {
      Object.assign(gateway, { channels });
    }
  });
});
