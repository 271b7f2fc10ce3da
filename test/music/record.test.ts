import { describe, expect, test } from 'vitest';
import { ledgerRows, logRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { audio, cover, pair, song } from './sigma-answers.ts';
import { type Answer, expectSchema, useSigmaRig } from './sigma-provider.ts';

const rig = useSigmaRig();
const fetchPath = 'GET /sigma/fetch';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const empty = { action: 'MUSIC', fail_reason: '', data: [] };

describe('a status', () => {
  test.each([
    ['NOT_START', 'QUEUED'],
    ['IN_PROGRESS', 'IN_PROGRESS'],
    ['UNKNOWN', 'QUEUED'],
  ])('%s is returned as %s', async (status, expected) => {
    const id = await rig.submit();
    rig.reported = { status };
    const record = await rig.poll(id);
    expect(record).toMatchObject({ ...empty, status: expected, progress: '0%', finish_time: 0 });
    expect(record.start_time > 0).toBe(expected === 'IN_PROGRESS');
  });

  test('never goes back', async () => {
    const id = await rig.submit();
    rig.reported = { status: 'IN_PROGRESS', progress: '50%' };
    expect(await rig.poll(id)).toMatchObject({ status: 'IN_PROGRESS', progress: '50%' });
    for (const status of ['QUEUED', 'UNKNOWN', 'RESTING']) {
      rig.reported = { status, progress: '10%' };
      expect(await rig.poll(id)).toMatchObject({ status: 'IN_PROGRESS', progress: '50%' });
    }
  });

  test.each([
    ['12.7%', '12%'],
    ['100%', '99%'],
    ['-5%', '0%'],
  ])('returns the progress %j as %s', async (progress, expected) => {
    const id = await rig.submit();
    rig.reported = { status: 'IN_PROGRESS', progress };
    expect((await rig.poll(id)).progress).toBe(expected);
  });
});

describe('songs', () => {
  test('have public ids, the same in each response, and the public version', async () => {
    const id = await rig.submit({ title: 'Low tide' });
    rig.reported = { status: 'SUCCESS', data: pair };
    const record = await rig.poll(id);
    expect(record).toMatchObject({ action: 'MUSIC', status: 'SUCCESS', fail_reason: '', progress: '100%' });
    const own = { id: expect.stringMatching(uuid), clip_id: expect.stringMatching(uuid) };
    const reported = {
      ...song(''),
      ...own,
      model_name: 'chirp-hawk',
      created_at: '2026-02-01T09:30:00.000Z',
    };
    expect(record.data).toEqual([reported, reported]);
    const songs = record.data as { id: string; clip_id: string }[];
    expect(songs.map(({ clip_id }) => clip_id)).toEqual(songs.map(({ id }) => id));
    expect(new Set(songs.map(({ id }) => id)).size).toBe(2);
    expect((await rig.fetch(id)).data).toEqual(record.data);
    const { body } = await rig.send('GET', `/sigma/v1/music/${id}`);
    expectSchema('MusicStateReply', body);
    expect(body.data).toEqual({
      task_id: id,
      status: 'SUCCESS',
      fail_reason: '',
      usage: { cost: 20 },
      input: { prompt: 'The sea', title: 'Low tide' },
      clips: Object.fromEntries(songs.map((one) => [one.id, one])),
    });
    expect(JSON.stringify([record, body])).not.toMatch(/clip-one|upstream-task|another-name/);
  });

  test('with the same upstream id have different ids in different tasks', async () => {
    const [[first], [second]] = [await rig.songs(), await rig.songs()];
    expect(first?.id).not.toBe(second?.id);
  });

  test('are returned while unfinished', async () => {
    const id = await rig.submit();
    rig.reported = {
      status: 'IN_PROGRESS',
      progress: '60%',
      data: [
        song('a', { status: 'streaming' }),
        song('b', { status: 'queued', audio_url: '', image_url: '' }),
      ],
    };
    const running = await rig.poll(id);
    expect(running.data).toMatchObject([
      { status: 'streaming', audio_url: audio, image_url: cover },
      { status: 'queued', audio_url: '', image_url: '' },
    ]);
    // Reported songs stay until more are reported.
    rig.reported = { status: 'IN_PROGRESS', data: [] };
    expect((await rig.poll(id)).data).toEqual(running.data);
    rig.reported = { status: 'SUCCESS', data: [song('a'), song('b')] };
    const ids = (songs: unknown) => (songs as { id: string }[]).map((one) => one.id);
    const ended = await rig.poll(id);
    expect(ids(ended.data)).toEqual(ids(running.data));
    expect(ended.data).toMatchObject([{ status: 'complete' }, { status: 'complete' }]);
  });
});

describe('several upstream tasks', () => {
  const ids = ['one', 'two'];
  const records = (...data: object[]): Answer => [200, { code: 'success', message: '', data }];
  const start = async () => {
    rig.instead.set('POST /sigma/submit/music', [200, { code: 200, data: ids }]);
    return rig.submit();
  };

  test('end with the last one and return the songs of all', async () => {
    const id = await start();
    const many = 'POST /sigma/fetch';
    rig.instead.set(
      many,
      records(
        { task_id: 'two', status: 'IN_PROGRESS', progress: '50%' },
        { task_id: 'one', status: 'SUCCESS', data: [song('a')] },
      ),
    );
    const running = await rig.poll(id);
    expect(running).toMatchObject({ status: 'IN_PROGRESS', progress: '75%', data: [{ status: 'complete' }] });
    const requested = rig.upstream.seen.findLast(({ path }) => path === '/sigma/fetch');
    expect(requested).toMatchObject({ method: 'POST', body: { ids } });
    rig.instead.set(
      many,
      records(
        { task_id: 'one', status: 'SUCCESS', data: [song('a')] },
        { task_id: 'two', status: 'SUCCESS', data: [song('b')] },
      ),
    );
    expect(await rig.poll(id)).toMatchObject({ status: 'SUCCESS', data: [{}, {}] });
  });
});

describe('the end of a task', () => {
  const keyed = () => makeKey(rig.gateway, { quota: 1000 });
  const bookOf = async () => (await ledgerRows(rig.gateway)).at(-1);

  test.each<[string, object, object[], number, number]>([
    ['two songs', {}, pair, 20, 20],
    ['one of two', {}, [song('a'), song('b', { status: 'error' })], 20, 10],
    ['one if the other has no audio', {}, [song('a'), song('b', { audio_url: '' })], 20, 10],
    [
      'two with any status',
      {},
      [song('a', { status: 'streaming' }), song('b', { status: undefined })],
      20,
      20,
    ],
    ['every song, also above the reservation', {}, [...pair, song('c'), song('d')], 20, 40],
  ])('charges %s', async (_, change, songs, reserved, charged) => {
    const { key, id } = await keyed();
    await rig.songs(songs, change, key);
    expect(await bookOf()).toEqual({ state: 'settled', reserved, charged, unit: 'tracks' });
    expect(await remainingQuota(rig.gateway, id)).toBe(1000 - charged);
    expect((await logRows(rig.gateway)).at(-1)).toMatchObject({
      operation: 'submitMusic',
      model_name: 'sigma_music',
      channel: 'near',
      quota: charged,
      units: charged / 10,
    });
  });

  test.each<[string, object, string]>([
    [
      'the reason of the provider',
      { status: 'FAILURE', fail_reason: 'The lyrics were refused.' },
      'The lyrics were refused.',
    ],
    [
      'the reason without hosts, keys and ids',
      { status: 'FAILURE', fail_reason: 'node gpu.internal: UPSTREAM failed, key-of-near' },
      'node ***: UPSTREAM failed, ***',
    ],
    ['our message without a reason', { status: 'FAILURE', data: pair }, 'The provider made no result.'],
  ])('of a failed task shows %s and refunds everything', async (_, reported, reason) => {
    const { key, id: token } = await keyed();
    const id = await rig.submit({}, key);
    rig.reported = reported;
    const { body } = await (async () => {
      await rig.pass(60_000);
      return rig.send('GET', `/sigma/fetch/${id}`, undefined, { key });
    })();
    expectSchema('MusicTaskReply', body);
    expect(body.data).toMatchObject({ status: 'FAILURE', fail_reason: reason, progress: '100%', data: [] });
    const { body: state } = await rig.send('GET', `/sigma/v1/music/${id}`, undefined, { key });
    expect(state.data).toMatchObject({ status: 'FAILURE', fail_reason: reason, clips: {} });
    await rig.stored(id);
    expect(await bookOf()).toMatchObject({ state: 'refunded', reserved: 20 });
    expect(await remainingQuota(rig.gateway, token)).toBe(1000);
  });

  test('removes the songs of a task that fails late', async () => {
    const id = await rig.submit();
    rig.reported = { status: 'IN_PROGRESS', data: pair };
    expect((await rig.poll(id)).data).toHaveLength(2);
    rig.reported = { status: 'FAILURE', fail_reason: 'It was held back.' };
    expect(await rig.poll(id)).toMatchObject({ status: 'FAILURE', data: [] });
  });

  test.each<[string, Answer]>([['with 404', [404, { code: 'not_found', message: 'no', data: null }]]])(
    'comes when the provider no longer has the task, %s',
    async (_, answer) => {
      const id = await rig.submit();
      rig.instead.set(fetchPath, answer);
      expect(await rig.poll(id)).toMatchObject({ status: 'FAILURE' });
      expect(await rig.stored(id)).toMatchObject({ error_code: 'task_lost' });
    },
  );

  test.each<[string, Answer]>([
    ['invalid JSON', [200, '<html>']],
    ['a failure', [500, { code: 'no', message: 'no', data: null }]],
    ['nothing', 'hang up'],
  ])('does not come from the response %s', async (_, answer) => {
    const id = await rig.submit();
    rig.instead.set(fetchPath, answer);
    expect(await rig.poll(id)).toMatchObject({ status: 'QUEUED' });
    rig.instead.clear();
    rig.reported = { status: 'SUCCESS', data: pair };
    expect(await rig.poll(id)).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('lyrics', () => {
  const text = '[Verse]\nSleep, the light goes round';
  const written = { id: 'lyrics-of-the-provider', status: 'complete', title: 'The lamp', text };

  test('are null until finished and charged as one action', async () => {
    const id = await rig.submitLyrics();
    rig.reported = { action: 'LYRICS', status: 'IN_PROGRESS', data: { ...written, text: '' } };
    expect(await rig.poll(id)).toMatchObject({ action: 'LYRICS', status: 'IN_PROGRESS', data: null });
    rig.reported = { action: 'LYRICS', status: 'SUCCESS', data: written };
    const record = await rig.poll(id);
    expect(record.data).toEqual({ ...written, id: expect.stringMatching(uuid) });
    expect(await bookOf()).toEqual({ state: 'settled', reserved: 10, charged: 10, unit: 'actions' });
    const { body } = await rig.send('GET', `/sigma/v1/music/${id}`);
    expect(body.data).toMatchObject({ status: 'SUCCESS', input: { prompt: 'A lighthouse' }, clips: {} });
  });

  test.each([[[written]], [{ ...written, id: undefined }]])('are read from %j', async (data) => {
    const id = await rig.submitLyrics();
    rig.reported = { status: 'SUCCESS', data };
    expect((await rig.poll(id)).data).toMatchObject({ title: 'The lamp', text });
  });

  test.each([null, { text: 3 }])('fail for %j', async (data) => {
    const id = await rig.submitLyrics();
    rig.reported = { status: 'SUCCESS', data };
    expect(await rig.poll(id)).toMatchObject({ status: 'FAILURE', data: null });
    expect(await bookOf()).toMatchObject({ state: 'refunded' });
  });

  const bookOf = async () => (await ledgerRows(rig.gateway)).at(-1);

  test('are distinguished from music in a batch fetch', async () => {
    const ids = [await rig.submit(), await rig.submitLyrics()];
    const actions = async (action?: string) => {
      const { body } = await rig.send('POST', '/sigma/fetch', { ids: [...ids, 'none'], action });
      expectSchema('MusicTasksReply', body);
      return (body.data as { action: string }[]).map((one) => one.action).toSorted();
    };
    expect([await actions(), await actions('MUSIC'), await actions('LYRICS')]).toEqual([
      ['LYRICS', 'MUSIC'],
      ['MUSIC'],
      ['LYRICS'],
    ]);
  });
});

test('a task is visible only to its owner', async () => {
  const id = await rig.submit();
  const { store } = rig.gateway.gateway;
  const stranger = await store.run('createUser', { name: 'stranger', group: 'default', now: 1 });
  const { key } = await makeKey(rig.gateway, { quota: 100, userId: stranger.id });
  for (const path of [`/sigma/fetch/${id}`, `/sigma/v1/music/${id}`])
    expect(await rig.send('GET', path, undefined, { key })).toMatchObject({
      status: 404,
      body: { error: { code: 'resource_not_found' } },
    });
  expect(await rig.send('POST', '/sigma/fetch', { ids: [id] }, { key })).toMatchObject({
    body: { data: [] },
  });
});
