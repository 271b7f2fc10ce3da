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
  test('gives songs of several tasks in the order of their ids, each once, and leaves out the rest', async () => {
    const [first, second] = await rig.songs();
    const [third] = await rig.songs();
    const asked = [third, first, third, second].map((one) => one?.id);
    for (const prefix of ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5']) {
      const { status, body } = await rig.send('GET', `${prefix}/feed/${asked.join(',')},none,clip-one`);
      expect([status, body]).toEqual([200, [third, first, second]]);
      for (const one of body as unknown as unknown[]) expectSchema('Song', one);
    }
    expect(await rig.send('GET', `/sigma/feed/${first?.id}`)).toMatchObject({ body: [first] });
  });

  test('gives songs that are still being made, but none of a task that has failed', async () => {
    const id = await rig.submit();
    rig.told = { status: 'IN_PROGRESS', data: [song('a', { status: 'streaming' })] };
    const [one] = (await rig.poll(id)).data as { id: string }[];
    const path = `/sigma/feed/${one?.id}`;
    expect(await rig.send('GET', path)).toMatchObject({ status: 200, body: [{ status: 'streaming' }] });
    rig.told = { status: 'FAILURE', fail_reason: 'It was held back.' };
    await rig.poll(id);
    expect(await rig.send('GET', path)).toMatchObject(unknown);
  });
});

describe('about a song', () => {
  test('its account tells the WAV file and the times, and nothing is charged', async () => {
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

  test.each(calls)("%s knows only ids of our own, and only the owner's", async (call) => {
    const [first] = await rig.songs();
    const key = await createOtherUserKey();
    rig.upstream.seen.length = 0;
    for (const id of ['none', 'clip-one', rig.upstreamId, '..%2f..', "'"])
      expect(await rig.send('GET', `${call}/${id}`)).toMatchObject(unknown);
    expect(await rig.send('GET', `${call}/${first?.id}`, undefined, { key })).toMatchObject(unknown);
    expect(rig.upstream.seen).toEqual([]);
  });

  test('that is not complete, 409 is told; of one that was not made, 404', async () => {
    const id = await rig.submit();
    rig.told = {
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
    ['no JSON', [200, '<html>'], 502, 'bad_response'],
    ['that it is not known', [404, { code: 'not_found', message: 'no' }], 404, 'resource_not_found'],
    ['another refusal', [400, { code: 'too_short', message: 'clip-one is too short' }], 400, 'too_short'],
    ['a refused key', [401, { code: 'no' }], 502, 'bad_response_status_code'],
    ['that it is away', [503, { code: 'no' }], 503, 'get_channel_failed'],
    ['nothing at all', 'hang up', 502, 'do_request_failed'],
  ];
  test.each(answers)('when its account answers %s', async (_, answer, status, code) => {
    const [first] = await rig.songs();
    for (const call of calls.slice(1)) {
      rig.instead.set(`GET ${call}`, answer);
      const told = await rig.send('GET', `${call}/${first?.id}`);
      expect(told).toMatchObject({ status, body: { error: { code } } });
      expect(JSON.stringify(told.body)).not.toContain('clip-one');
    }
  });

  test('a refusal names our ids in the place of the provider’s', async () => {
    const [first] = await rig.songs();
    const said = `clip-one of ${rig.upstreamId} is too short`;
    for (const call of calls.slice(1)) {
      rig.instead.set(`GET ${call}`, [400, { code: 'too_short', message: said }]);
      const { body } = await rig.send('GET', `${call}/${first?.id}`);
      const { message } = (body as { error: { message: string } }).error;
      expect(message).toMatch(new RegExp(`^${first?.id} of task_[0-9a-f]{32} is too short$`));
      expect(message).not.toContain(rig.upstreamId);
    }
  });

  test.each<[unknown, number, string]>([
    [{ wav_file_url: '' }, 409, 'resource_not_ready'],
    [{ wav_file_url: 'soon' }, 502, 'bad_response'],
  ])('the WAV file as %j', async (answer, status, code) => {
    const [first] = await rig.songs();
    rig.instead.set('GET /sigma/act/wav', [200, answer]);
    expect(await rig.send('GET', `/sigma/act/wav/${first?.id}`)).toMatchObject({
      status,
      body: { error: { code } },
    });
  });

  test('that its task has gone, nothing is left', async () => {
    const [first] = await rig.songs(pair);
    const { store } = rig.gateway.gateway;
    await store.run('pruneTasks', { finalBy: Number.MAX_SAFE_INTEGER, limit: 1_000 });
    for (const call of calls) expect(await rig.send('GET', `${call}/${first?.id}`)).toMatchObject(unknown);
  });
});
