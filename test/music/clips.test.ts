import { describe, expect, test } from 'vitest';
import { ledgerRows, makeKey } from '../server/ledger.ts';
import { pair, song, timing, wav } from './sigma-answers.ts';
import { type Answer, expectSchema, useSigmaRig } from './sigma-provider.ts';

const rig = useSigmaRig();
const unknown = { status: 404, body: { error: { code: 'resource_not_found' } } };
const calls = ['/sigma/feed', '/sigma/act/wav', '/sigma/act/timing'];

async function createOtherUserKey(): Promise<string> {
  const { store } = rig.gateway.gateway;
  const stranger = await store.run('createUser', { name: 'stranger', group: 'default', now: 1 });
  return (await makeKey(rig.gateway, { quota: 1000, userId: stranger.id })).key;
}

describe('the feed', () => {
  test('returns songs of several tasks once, in the order of the ids, and omits unknown ids', async () => {
    const [first, second] = await rig.songs();
    const [third] = await rig.songs();
    const requested = [third, first, third, second].map((one) => one?.id);
    for (const prefix of ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5']) {
      const { status, body } = await rig.send('GET', `${prefix}/feed/${requested.join(',')},none,clip-one`);
      expect([status, body]).toEqual([200, [third, first, second]]);
      for (const one of body as unknown as unknown[]) expectSchema('Song', one);
    }
    expect(await rig.send('GET', `/sigma/feed/${first?.id}`)).toMatchObject({ body: [first] });
  });

  test('returns unfinished songs, but none of a failed task', async () => {
    const id = await rig.submit();
    rig.reported = { status: 'IN_PROGRESS', data: [song('a', { status: 'streaming' })] };
    const [one] = (await rig.poll(id)).data as { id: string }[];
    const path = `/sigma/feed/${one?.id}`;
    expect(await rig.send('GET', path)).toMatchObject({ status: 200, body: [{ status: 'streaming' }] });
    rig.reported = { status: 'FAILURE', fail_reason: 'It was held back.' };
    await rig.poll(id);
    expect(await rig.send('GET', path)).toMatchObject(unknown);
  });
});

describe('resources of a song', () => {
  test('are fetched from its account without a charge', async () => {
    const [, second] = await rig.songs();
    rig.upstream.seen.length = 0;
    const before = await ledgerRows(rig.gateway);
    for (const prefix of ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5']) {
      const file = await rig.send('GET', `${prefix}/act/wav/${second?.id}`);
      expect(file).toEqual({ status: 200, body: { wav_file_url: wav } });
      expectSchema('ClipWavReply', file.body);
      const times = await rig.send('GET', `${prefix}/act/timing/${second?.id}`);
      expect(times).toEqual({ status: 200, body: timing });
      expectSchema('ClipTimingReply', times.body);
    }
    expect(rig.upstream.seen.map(({ path }) => path)).toEqual(
      Array(3).fill(['/sigma/act/wav/clip-two', '/sigma/act/timing/clip-two']).flat(),
    );
    expect(rig.upstream.seen[0]?.headers.authorization).toBe('Bearer key-of-near');
    expect(await ledgerRows(rig.gateway)).toEqual(before);
  });

  test.each(calls)('%s accepts only public ids of the owner', async (call) => {
    const [first] = await rig.songs();
    const key = await createOtherUserKey();
    rig.upstream.seen.length = 0;
    for (const id of ['none', 'clip-one', rig.upstreamId, '..%2f..', "'"])
      expect(await rig.send('GET', `${call}/${id}`)).toMatchObject(unknown);
    expect(await rig.send('GET', `${call}/${first?.id}`, undefined, { key })).toMatchObject(unknown);
    expect(rig.upstream.seen).toEqual([]);
  });

  test('return 409 for an incomplete song and 404 for a failed one', async () => {
    const id = await rig.submit();
    rig.reported = {
      status: 'IN_PROGRESS',
      data: [song('a', { status: 'streaming' }), song('b', { status: 'error' })],
    };
    const [streaming, broken] = (await rig.poll(id)).data as { id: string }[];
    for (const call of calls.slice(1)) {
      expect(await rig.send('GET', `${call}/${streaming?.id}`)).toMatchObject({
        status: 409,
        body: { error: { code: 'resource_not_ready', message: expect.stringContaining('clip_id: ') } },
      });
      expect(await rig.send('GET', `${call}/${broken?.id}`)).toMatchObject(unknown);
    }
  });

  const answers: [string, Answer, number, string][] = [
    ['invalid JSON', [200, '<html>'], 502, 'bad_response'],
    ['that it is not known', [404, { code: 'not_found', message: 'no' }], 404, 'resource_not_found'],
    ['another rejection', [400, { code: 'too_short', message: 'clip-one is too short' }], 400, 'too_short'],
    ['a rejected key', [401, { code: 'no' }], 502, 'bad_response_status_code'],
    ['that it is away', [503, { code: 'no' }], 503, 'get_channel_failed'],
    ['a closed connection', 'hang up', 502, 'do_request_failed'],
  ];
  test.each(answers)('when its account responds with %s', async (_, answer, status, code) => {
    const [first] = await rig.songs();
    for (const call of calls.slice(1)) {
      rig.instead.set(`GET ${call}`, answer);
      const response = await rig.send('GET', `${call}/${first?.id}`);
      expect(response).toMatchObject({ status, body: { error: { code } } });
      expect(JSON.stringify(response.body)).not.toContain('clip-one');
    }
  });

  test('a rejection contains public ids instead of the provider’s', async () => {
    const [first] = await rig.songs();
    const reported = `clip-one of ${rig.upstreamId} is too short`;
    for (const call of calls.slice(1)) {
      rig.instead.set(`GET ${call}`, [400, { code: 'too_short', message: reported }]);
      const { body } = await rig.send('GET', `${call}/${first?.id}`);
      const { message } = (body as { error: { message: string } }).error;
      expect(message).toMatch(new RegExp(`^${first?.id} of task_[0-9a-f]{32} is too short$`));
      expect(message).not.toContain(rig.upstreamId);
    }
  });

  test.each<[unknown, number, string]>([
    [{ wav_file_url: '' }, 409, 'resource_not_ready'],
    [{ wav_file_url: 'soon' }, 502, 'bad_response'],
  ])('the WAV response %j', async (answer, status, code) => {
    const [first] = await rig.songs();
    rig.instead.set('GET /sigma/act/wav', [200, answer]);
    expect(await rig.send('GET', `/sigma/act/wav/${first?.id}`)).toMatchObject({
      status,
      body: { error: { code } },
    });
  });

  test('are gone with the song’s task', async () => {
    const [first] = await rig.songs(pair);
    const { store } = rig.gateway.gateway;
    await store.run('pruneTasks', { finalBy: Number.MAX_SAFE_INTEGER, limit: 1_000 });
    for (const call of calls) expect(await rig.send('GET', `${call}/${first?.id}`)).toMatchObject(unknown);
  });
});
