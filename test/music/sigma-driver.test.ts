import { describe, expect, test } from 'vitest';
import { fetchTiming, fetchWav } from '../../server/providers/sigma/clips.ts';
import { sigmaLyrics, sigmaMusic } from '../../server/providers/sigma/music-request.ts';
import { sigmaDriver } from '../../server/providers/sigma/tasks.ts';
import type { AcceptedTask } from '../../server/tasks/driver.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';
import { pair, song, timing, wav } from './sigma-answers.ts';

const rig = useDriverRig({ protocol: 'sigma', key: 'key-of-near' });
const task = (change: Partial<AcceptedTask> = {}) =>
  acceptedTask({ driver: 'sigma', model: 'sigma_music', unit: 'tracks', upstreamId: 'one', ...change });
const enveloped = (data: unknown) => ({ code: 'success', message: '', data });

async function poll(body: unknown, change: Partial<AcceptedTask> = {}) {
  rig.answer = { body };
  return sigmaDriver.poll(task(change), rig.to());
}
const polled = (record: object, change?: Partial<AcceptedTask>) => poll(enveloped(record), change);

describe('polling a task', () => {
  test.each([
    ['NOT_START', 'queued', 'queued'],
    ['SUBMITTED', 'queued', 'queued'],
    ['QUEUED', 'queued', 'queued'],
    ['IN_PROGRESS', 'queued', 'in_progress'],
    ['RESTING', 'queued', 'queued'],
    // A started task does not go back.
    ['QUEUED', 'in_progress', 'in_progress'],
    ['RESTING', 'in_progress', 'in_progress'],
  ] as const)('maps %s of a task in state %s to %s', async (status, state, now) => {
    expect(await polled({ status }, { state })).toEqual({ state: now, progress: 0, clips: [] });
  });

  test.each([
    ['50%', 50],
    ['12.7%', 12.7],
    [33, 33],
    ['7', 7],
    ['half', 0],
    [null, 0],
  ])('reads the progress %j as %i', async (progress, percent) => {
    expect(await polled({ status: 'IN_PROGRESS', progress })).toMatchObject({ progress: percent });
  });

  test.each([
    ['a plain id', 'one', '/sigma/fetch/one'],
    ['an id with a slash', 'a/b', '/sigma/fetch/a%2Fb'],
  ])('requests the path of %s', async (_, upstreamId, path) => {
    await polled({ status: 'QUEUED' }, { upstreamId });
    expect(rig.seen.map((one) => [one.method, one.path])).toEqual([['GET', path]]);
  });

  test('reads a record with or without an envelope', async () => {
    const record = { status: 'SUCCESS', data: [song('a'), song('b', { audio_url: '' })] };
    const wrapped = await polled(record);
    expect(wrapped).toMatchObject({
      state: 'completed',
      usage: { units: 1 },
      result: { songs: [{ status: 'complete', model_name: 'chirp-hawk' }, { status: 'error' }] },
      clips: [
        { upstreamId: 'a', upstreamTaskId: 'one' },
        { upstreamId: 'b', upstreamTaskId: 'one' },
      ],
    });
    expect(await poll(record)).toEqual(wrapped);
    expect(await poll({ code: 'failed', ...record })).toEqual(wrapped);
    expect(await polled(record, { facts: { mv: 'chirp-auk' } })).toMatchObject({
      result: { songs: [{ model_name: 'chirp-auk' }, {}] },
    });
  });

  test('replaces upstream ids in songs and failures', async () => {
    const facts = { public_ids: { 'upstream-clip': 'our-clip' }, sent_hosts: ['sent.example'] };
    const metadata = { stem_from_id: 'upstream-clip', error_message: 'not at sent.example, 10.0.0.7' };
    const found = await polled({ status: 'IN_PROGRESS', data: [song('a', { metadata })] }, { facts });
    expect(found).toMatchObject({
      result: {
        songs: [{ metadata: { stem_from_id: 'our-clip', error_message: 'not at sent.example, ***' } }],
      },
    });
    const fail_reason = 'Task one failed over upstream-clip at sent.example';
    expect(await polled({ status: 'FAILURE', fail_reason }, { facts })).toEqual({
      state: 'failed',
      error: {
        code: 'music_generation_failed',
        message: 'Task task_public failed over our-clip at sent.example',
      },
    });
  });

  const nothing = { code: 'music_generation_failed', message: 'The provider made no result.' };
  test.each([
    ['FAILURE', pair],
    ['SUCCESS', []],
    ['SUCCESS', 'songs'],
    ['SUCCESS', [song('a', { audio_url: null }), song('b', { status: 'error' })]],
  ])('fails the task for %s with %j', async (status, data) => {
    expect(await polled({ status, data })).toEqual({ state: 'failed', error: nothing });
  });

  const lost = { state: 'failed', error: { code: 'task_lost' } };
  test.each([
    'task_not_exist',
    'Task_Not_Found',
    'clip_not_exist',
    'clipnotfound',
    'resource_not_found',
    404,
  ])('reports a lost task for %j', async (code) => {
    expect(await poll({ code, message: 'no', data: null })).toMatchObject(lost);
  });

  test.each([
    ['invalid JSON', '<html>'],
    ['null', null],
    ['nothing', ''],
    ['no record', enveloped(null)],
    ['a list', enveloped([])],
    ['another rejection', { code: 'no', data: null }],
    ['a code that contains the word', { code: 'my_task_not_found', data: null }],
    ['another code that contains it', { code: 'my_resource_not_found', data: null }],
    ['a code that ends with it', { code: 1404, data: null }],
    ['a code that starts with it', { code: '4040', data: null }],
    [
      'a response that is too long',
      enveloped({ status: 'SUCCESS', data: pair, more: 'a'.repeat(5_000_000) }),
    ],
  ])('throws for the response %s', async (_, body) => {
    expect(await failureOf(poll(body))).toMatchObject({
      kind: 'unknown',
      status: 502,
      fault: 'invalid_response',
    });
  });
});

describe('lyrics', () => {
  const facts = { action: 'LYRICS' };
  const written = { id: 'a', title: 'The lamp', text: 'Sleep' };

  test('are one action when finished, and nothing before', async () => {
    expect(await polled({ status: 'SUCCESS', data: written }, { facts })).toMatchObject({
      state: 'completed',
      result: { lyrics: { title: 'The lamp', text: 'Sleep' } },
      clips: [],
      usage: { units: 1 },
    });
    expect(await polled({ status: 'IN_PROGRESS', progress: '5%', data: written }, { facts })).toEqual({
      state: 'in_progress',
      progress: 5,
      clips: [],
    });
    expect(await polled({ status: 'SUCCESS', data: {} }, { facts })).toMatchObject({ state: 'failed' });
  });
});

describe('several upstream tasks', () => {
  const both = (one: object, two: object, change: Partial<AcceptedTask> = {}) =>
    polled([{ task_id: 'two', ...two }, { task_id: 'one', ...one }, { status: 'SUCCESS' }], {
      upstreamId: 'one,two',
      ...change,
    });
  const done = { status: 'SUCCESS', data: [song('a')] };

  test('have their average progress', async () => {
    const running = await both(done, { status: 'IN_PROGRESS', progress: '50%' });
    expect(running).toMatchObject({
      state: 'in_progress',
      progress: 75,
      result: { songs: [{ status: 'complete' }] },
      clips: [{ upstreamId: 'a', upstreamTaskId: 'one' }],
    });
    expect(rig.seen).toMatchObject([{ method: 'POST', path: '/sigma/fetch', body: { ids: ['one', 'two'] } }]);
    const queued = { status: 'QUEUED' };
    expect((await both(queued, queued)).state).toBe('queued');
    expect((await both(done, queued)).state).toBe('in_progress');
    expect((await both(queued, queued, { state: 'in_progress' })).state).toBe('in_progress');
  });

  test('return the lyrics of any of them', async () => {
    const written = { status: 'SUCCESS', data: { id: 'a', title: 'The lamp', text: 'Sleep' } };
    expect(await both({ status: 'FAILURE' }, written, { facts: { action: 'LYRICS' } })).toMatchObject({
      state: 'completed',
      result: { lyrics: { text: 'Sleep' } },
    });
  });

  test('end with the last one and return the songs of all', async () => {
    expect(await both(done, { status: 'SUCCESS', data: [song('b')] })).toMatchObject({
      state: 'completed',
      usage: { units: 2 },
      clips: [{ upstreamTaskId: 'one' }, { upstreamTaskId: 'two' }],
    });
    expect(await both(done, { status: 'FAILURE' })).toMatchObject({
      state: 'completed',
      usage: { units: 1 },
    });
    expect(await both(done, { task_id: 'other' })).toMatchObject({ state: 'completed' });
  });

  test('fail when all fail, with the message of one', async () => {
    const failed = await both(
      { status: 'SUCCESS' },
      { status: 'FAILURE', fail_reason: 'Task two is refused.' },
    );
    expect(failed).toMatchObject({ state: 'failed', error: { message: 'Task task_public is refused.' } });
    expect(await failureOf(poll([], { upstreamId: 'one,two' }))).toMatchObject({ kind: 'unknown' });
    expect(await failureOf(poll({ data: {} }, { upstreamId: 'one,two' }))).toMatchObject({
      fault: 'invalid_response',
    });
  });
});

describe('a request', () => {
  const submit = (body: unknown, facts: AcceptedTask['facts'] = {}, request: object = { prompt: 'a' }) => {
    rig.answer = { body };
    return sigmaDriver.submit(task({ facts }), request, rig.to());
  };

  test.each([
    ['an id', enveloped('one'), 'one'],
    ['an id, and its code as a status', { code: 200, data: 'one' }, 'one'],
    ['an id, and its code as a text', { code: '200', data: 'one' }, 'one'],
    ['an id, and zero', { code: 0, data: 'one' }, 'one'],
    ['an id, and zero as a text', { code: '0', data: 'one' }, 'one'],
    ['an id without a code', { data: 'one' }, 'one'],
    ['an id and no code at all', { code: { a: 1 }, data: 'one' }, 'one'],
    ['a list of tasks', { code: 200, data: [{ task_id: 'one' }, { task_id: 'two' }] }, 'one,two'],
    ['a list of ids', { code: 200, data: ['one', 'two', 'one'] }, 'one,two'],
    ['a list with invalid items', { data: [null, { task_id: 'one' }, { id: 3 }, ''] }, 'one'],
    ['a task', { data: { task_id: 'one' } }, 'one'],
    ['twelve tasks', { data: Array.from({ length: 12 }, (_, at) => `${at}`) }, '0,1,2,3,4,5,6,7,8,9,10,11'],
  ])('reads the ids in %s', async (_, body, upstreamId) => {
    expect(await submit(body)).toEqual({ upstreamId });
  });

  test('is sent to the route and with the version of its action', async () => {
    await submit(enveloped('one'), { mv: 'chirp-auk' });
    await submit(enveloped('one'));
    await submit(enveloped('one'), { action: 'LYRICS', mv: 'chirp-hawk' });
    expect(rig.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/sigma/submit/music', { prompt: 'a', mv: 'chirp-auk' }],
      ['POST', '/sigma/submit/music', { prompt: 'a', mv: 'chirp-hawk' }],
      ['POST', '/sigma/submit/lyrics', { prompt: 'a' }],
    ]);
  });

  test.each([
    ['invalid JSON', '<html>'],
    ['nothing', ''],
    ['null', null],
    ['no data', { code: 'success' }],
    ['no id', enveloped('')],
    ['an id with NUL', enveloped('a\u0000b')],
    ['an id that contains a comma', { data: ['one,two'] }],
    ['a list with an id that contains a comma', { data: ['three', 'one,two'] }],
    ['an empty list', { data: [] }],
    ['a number', enveloped(17)],
    ['thirteen tasks', { data: Array.from({ length: 13 }, (_, at) => `${at}`) }],
  ])('has an unknown outcome after %s', async (_, body) => {
    expect(await failureOf(submit(body))).toMatchObject({
      kind: 'unknown',
      status: 502,
      fault: 'invalid_response',
    });
  });

  const rejection = 'The provider rejected the request.';
  const failed = 'The provider failed to handle the request.';
  const throttled = 'The provider takes no more requests now.';
  test.each([
    [{ code: 'sensitive_words', message: 'Not so.' }, 'rejected', 400, 'sensitive_words', 'Not so.'],
    [{ code: 'no', msg: 'Not at 10.0.0.7.' }, 'rejected', 400, 'no', 'Not at ***.'],
    [{ code: 'no', msg: 'at sent.example' }, 'rejected', 400, 'no', 'at sent.example'],
    [{ code: -1, data: 'one' }, 'rejected', 400, '-1', rejection],
    [{ code: 'x'.repeat(300) }, 'rejected', 400, 'x'.repeat(200), rejection],
    [{ code: 4000 }, 'rejected', 400, '4000', rejection],
    [{ code: 'a404' }, 'rejected', 400, 'a404', rejection],
    [{ code: 422 }, 'rejected', 400, '422', rejection],
    [{ code: 499 }, 'rejected', 400, '499', rejection],
    [{ code: 1500 }, 'rejected', 400, '1500', rejection],
    [{ code: 'rate_limit_exceeded', message: 'slow' }, 'retryable', 429, 'rate_limit_exceeded', throttled],
    [{ code: 429 }, 'retryable', 429, 'rate_limit_exceeded', throttled],
    [{ code: 'invalid_api_key' }, 'retryable', 502, 'bad_response_status_code', failed],
    [{ code: 401 }, 'retryable', 502, 'bad_response_status_code', failed],
    [{ code: '403' }, 'retryable', 502, 'bad_response_status_code', failed],
    [{ code: 500, message: 'at 10.0.0.7' }, 'unknown', 502, 'bad_response_status_code', failed],
    [{ code: 504 }, 'unknown', 504, 'upstream_timeout', 'The provider did not answer in time.'],
  ])('maps the response %j to %s, %i and %s', async (body, kind, status, code, message) => {
    const sent = { prompt: 'a song for https://sent.example/' };
    expect(await failureOf(submit({ data: null, ...body }, {}, sent))).toMatchObject({
      kind,
      status,
      code,
      message,
    });
  });
});

describe('resources of a song', () => {
  const calls = [fetchWav, fetchTiming];

  test.each([
    ['nothing', { body: '' }, 'unknown', 502, 'bad_response'],
    ['null', { body: null }, 'unknown', 502, 'bad_response'],
    ['a text', { body: '"soon"' }, 'unknown', 502, 'bad_response'],
    ['invalid JSON', { body: '<html>' }, 'unknown', 502, 'bad_response'],
    ['status 404', { status: 404, body: { code: 'no' } }, 'rejected', 404, 'resource_not_found'],
    ['status 410', { status: 410, body: { code: 'no' } }, 'rejected', 404, 'resource_not_found'],
    ['status 404 without a body', { status: 404, body: '' }, 'rejected', 404, 'resource_not_found'],
    [
      'a code for an unknown clip',
      { status: 400, body: { code: 'clip_not_exist' } },
      'rejected',
      404,
      'resource_not_found',
    ],
    ['a code with status 200', { body: { code: 'task_not_exist' } }, 'rejected', 404, 'resource_not_found'],
    ['another rejection', { status: 400, body: { code: 'too_short' } }, 'rejected', 400, 'too_short'],
    ['throttling', { status: 429, body: {} }, 'retryable', 429, 'rate_limit_exceeded'],
    ['a rejected key', { status: 401, body: {} }, 'retryable', 502, 'bad_response_status_code'],
    ['a failure', { status: 500, body: {} }, 'unknown', 502, 'bad_response_status_code'],
  ] as const)('map %s', async (_, given, kind, status, code) => {
    rig.answer = given;
    for (const call of calls)
      expect(await failureOf(call(rig.to(), 'a'))).toMatchObject({ kind, status, code });
  });

  test('explain a song that no longer exists', async () => {
    rig.answer = { status: 404, body: '' };
    expect(await failureOf(fetchWav(rig.to(), 'a'))).toMatchObject({
      message: 'clip_id: the provider no longer has the song.',
    });
  });

  test.each([
    [{ wav_file_url: '' }, undefined],
    [{}, undefined],
    [enveloped({}), undefined],
    [{ wav_file_url: 7 }, undefined],
    [{ wav_file_url: wav }, wav],
    [enveloped({ wav_file_url: wav }), wav],
  ])('read the WAV URL in %j as %s', async (body, url) => {
    rig.answer = { body };
    expect(await fetchWav(rig.to(), 'a/b')).toBe(url);
    expect(rig.seen).toMatchObject([{ method: 'GET', path: '/sigma/act/wav/a%2Fb' }]);
  });

  test.each(['file:///etc/passwd', 'soon'])('reject the WAV URL %s', async (wav_file_url) => {
    rig.answer = { body: { wav_file_url } };
    expect(await failureOf(fetchWav(rig.to(), 'a'))).toMatchObject({
      kind: 'unknown',
      fault: 'invalid_response',
    });
  });

  test('read the timing with or without an envelope', async () => {
    for (const body of [timing, enveloped(timing)]) {
      rig.answer = { body };
      expect(await fetchTiming(rig.to(), 'a/b')).toEqual(timing);
    }
    expect(rig.seen[0]).toMatchObject({ method: 'GET', path: '/sigma/act/timing/a%2Fb' });
    rig.answer = { body: { waveform_data: [] } };
    expect(await failureOf(fetchTiming(rig.to(), 'a'))).toMatchObject({
      kind: 'unknown',
      fault: 'invalid_response',
    });
    rig.answer = { body: { aligned_words: [] } };
    expect(await fetchTiming(rig.to(), 'a')).toEqual({ aligned_words: [], waveform_data: [] });
  });

  test('drop timing values outside of the contract', async () => {
    const words = [
      null,
      'word',
      { word: 'The', start_s: '1.5', end_s: -2, success: 1, p_align: 'high', secret: 'hidden' },
      { word: 'w'.repeat(1_001), start_s: -1, end_s: 2, success: false, p_align: 0 },
      { word: 7, start_s: 1, end_s: 2 },
      { word: 'no', start_s: 'soon', end_s: 2 },
      { word: 'end', start_s: 1 },
    ];
    const junk = {
      aligned_words: words,
      waveform_data: [0.5, '0.5', null, 1],
      hoot_cer: 'low',
      is_streamed: 0,
      secret: 1,
    };
    rig.answer = { body: junk };
    const reply = await fetchTiming(rig.to(), 'a');
    expect(reply).toEqual({
      aligned_words: [
        { word: 'The', start_s: 1.5, end_s: 0 },
        { word: 'w'.repeat(1_000), start_s: 0, end_s: 2, success: false, p_align: 0 },
      ],
      waveform_data: [0.5, 1],
    });
    const [word] = timing.aligned_words;
    rig.answer = { body: { aligned_words: Array(10_001).fill(word), waveform_data: Array(100_001).fill(0) } };
    const { aligned_words, waveform_data } = await fetchTiming(rig.to(), 'a');
    expect([aligned_words.length, waveform_data.length]).toEqual([10_000, 100_000]);
  });
});

describe('a translated request', () => {
  test('is unchanged except for its version and callbacks', () => {
    const stored = {
      prompt: 'Lyrics',
      gpt_description_prompt: 'd',
      title: 't',
      tags: 'folk',
      negative_tags: 'metal',
      make_instrumental: 0,
      continue_clip_id: 'c',
      continue_at: 0,
      task_id: 'task_0',
      task: 'extend',
    } as const;
    const control_sliders = { style_weight: 0, weirdness_constraint: 0.5, audio_weight: 1 };
    const own = { custom_mode: 1 as const, persona_id: 'p', metadata: { mood: 1, control_sliders } };
    const hooks = { callback_url: 'https://app.example/a', notify_hook: 'https://app.example/b' };
    expect(sigmaMusic({ ...stored, ...own, ...hooks, mv: 'chirp-v3-5' })).toEqual({
      body: { ...stored, ...own },
      facts: {
        action: 'MUSIC',
        mv: 'chirp-hawk',
        input: { mv: 'chirp-v3-5', ...stored, metadata: { control_sliders } },
      },
      expectedUnits: 2,
      priceFields: { task: 'extend' },
    });
    expect(sigmaMusic({ prompt: 'a', metadata: {} }).facts.input).toEqual({ prompt: 'a' });
  });

  const stem = { task: 'gen_stem', make_instrumental: true, stem_type_id: 91, generation_type: 'TEXT' };
  test.each([
    [{}, { stem_task: 'two', stem_type_group_name: 'Two' }, 2],
    [
      { stem_task: 'two', make_instrumental: 0, prompt: 'stored' },
      { stem_task: 'two', stem_type_group_name: 'Two', prompt: 'stored' },
      2,
    ],
    [{ stem_task: 'twelve', stem_type_id: 1 }, { stem_task: 'twelve', stem_type_group_name: 'Twelve' }, 12],
  ] as const)('adds the fields of a stem separation: %j', (change, filled, tracks) => {
    const requested = { task: 'gen_stem', continue_clip_id: 'c', ...change } as const;
    const { body, facts, expectedUnits } = sigmaMusic(requested);
    expect(body).toEqual({ prompt: '', continue_clip_id: 'c', ...stem, ...filled });
    expect([facts.mv, facts.input?.stem_task, expectedUnits]).toEqual([
      'chirp-auk',
      'stem_task' in change ? change.stem_task : undefined,
      tracks,
    ]);
  });

  test('contains only the prompt for lyrics', () => {
    expect(sigmaLyrics({ prompt: 'a' })).toEqual({
      body: { prompt: 'a' },
      facts: { action: 'LYRICS', input: { prompt: 'a' } },
      expectedUnits: 1,
      priceFields: { task: 'lyrics' },
    });
  });

  test("has a channel's own name of the current version, except for stems", async () => {
    const renamed = rig.to({ models: [{ id: 'sigma_music', upstream: 'version-nine' }] });
    rig.answer = { body: enveloped('one') };
    for (const mv of ['chirp-hawk', 'chirp-auk'])
      await sigmaDriver.submit(task({ facts: { mv } }), { prompt: 'a' }, renamed);
    expect(rig.seen.map(({ body }) => (body as { mv: string }).mv)).toEqual(['version-nine', 'chirp-auk']);
  });
});
