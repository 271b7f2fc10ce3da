import { describe, expect, test } from 'vitest';
import { ledgerRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { type Answer, expectSchema, type Json, useSigmaRig } from './sigma-provider.ts';

const rig = useSigmaRig();
const musicPath = '/sigma/submit/music';

describe('an upstream request', () => {
  const rows: [string, Json, Json][] = [
    ['with the current version', { prompt: 'a' }, { prompt: 'a' }],
    ['whatever version it asks for', { prompt: 'a', mv: 'chirp-v3-5' }, { prompt: 'a' }],
    [
      'with numbers for flags',
      { prompt: 'a', custom_mode: 0, make_instrumental: 1 },
      { prompt: 'a', custom_mode: 0, make_instrumental: 1 },
    ],
    [
      'with booleans for flags',
      { prompt: 'a', custom_mode: false, make_instrumental: true },
      { prompt: 'a', custom_mode: false, make_instrumental: true },
    ],
    ['with an explicit 0', { prompt: 'a', make_instrumental: 0 }, { prompt: 'a', make_instrumental: 0 }],
    [
      'without its callback',
      { prompt: 'a', callback_url: 'https://app.example/a', notify_hook: 'https://app.example/b' },
      { prompt: 'a' },
    ],
    [
      'with unknown fields',
      { prompt: 'a', persona_id: 'p', metadata: { mood: 1 } },
      { prompt: 'a', persona_id: 'p', metadata: { mood: 1 } },
    ],
    [
      'with all fields',
      {
        custom_mode: 1,
        prompt: 'Lyrics',
        title: 't',
        tags: 'folk',
        negative_tags: 'metal',
        gpt_description_prompt: 'd',
        metadata: { control_sliders: { style_weight: 0, audio_weight: 1 } },
      },
      {
        custom_mode: 1,
        prompt: 'Lyrics',
        title: 't',
        tags: 'folk',
        negative_tags: 'metal',
        gpt_description_prompt: 'd',
        metadata: { control_sliders: { style_weight: 0, audio_weight: 1 } },
      },
    ],
  ];
  test.each(rows)('%s', async (_, body, sent) => {
    expect((await rig.send('POST', musicPath, body)).status).toBe(200);
    expect(rig.sent()).toEqual([{ path: musicPath, body: { ...sent, mv: 'chirp-hawk' }, channel: 'near' }]);
  });

  test('contains the input of format A', async () => {
    const input = { prompt: 'Lyrics', title: 't', mv: 'chirp-fenix', persona_id: 'p' };
    const body = { custom_mode: true, input, notify_hook: 'https://app.example/a', other: 1 };
    expect((await rig.send('POST', '/sigma/v1/music', body)).status).toBe(200);
    expect(rig.sent()).toMatchObject([{ path: musicPath }]);
    expect(rig.sent()[0]?.body).toEqual({
      prompt: 'Lyrics',
      title: 't',
      persona_id: 'p',
      custom_mode: true,
      mv: 'chirp-hawk',
    });
  });

  test('contains only the prompt for lyrics', async () => {
    await rig.send('POST', '/sigma/submit/lyrics', { prompt: 'A lighthouse', other: 1 });
    expect(rig.sent()).toMatchObject([{ path: '/sigma/submit/lyrics', body: { prompt: 'A lighthouse' } }]);
    expect(Object.keys(rig.sent()[0]?.body ?? {})).toEqual(['prompt']);
  });
});

describe('the response', () => {
  const body = { prompt: 'The sea', title: 'Low tide' };
  const id = expect.stringMatching(/^task_[a-f0-9]{32}$/);
  const listed = {
    code: 200,
    msg: 'success',
    data: [{ task_id: id, status: 1, ...body }],
    exec_time: expect.any(Number),
  };
  const success = { code: 'success', msg: '', data: id, exec_time: expect.any(Number) };
  const rows: [string, Json, Json, string][] = [
    ['/sigma/submit/music', body, success, 'MusicSubmitReply'],
    ['/sigma/v1/submit/music', body, listed, 'MusicSubmitReply'],
    ['/sigma/v1/mv-3.5/submit/music', body, listed, 'MusicSubmitReply'],
    [
      '/sigma/v1/music',
      { input: body },
      { code: 200, message: 'success', data: { task_id: id } },
      'MusicCreatedReply',
    ],
    [
      '/sigma/v1/mv-3.5/music',
      { input: body },
      { code: 200, message: 'success', data: { task_id: id } },
      'MusicCreatedReply',
    ],
    [
      '/sigma/submit/lyrics',
      { prompt: 'a' },
      { ...success, message: '', ip: '127.0.0.1' },
      'LyricsSubmitReply',
    ],
    [
      '/sigma/v1/submit/lyrics',
      { prompt: 'a' },
      { ...success, code: 200, msg: 'success', message: 'success', ip: '127.0.0.1' },
      'LyricsSubmitReply',
    ],
  ];
  test.each(rows)('at %s has the id of a task for both formats', async (path, request, expected, schema) => {
    const answer = await rig.send('POST', path, request);
    expect(answer).toEqual({ status: 200, body: expected });
    expectSchema(schema, answer.body);
    const [named = ''] = /task_[a-f0-9]{32}/.exec(JSON.stringify(answer.body)) ?? [];
    for (const prefix of ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5']) {
      expect(await rig.send('GET', `${prefix}/fetch/${named}`)).toMatchObject({
        body: { data: { task_id: named } },
      });
      const { body: many } = await rig.send('POST', `${prefix}/fetch`, { ids: [named, named] });
      expect(many.data).toMatchObject([{ task_id: named }]);
      if (prefix === '/sigma') continue;
      const { body: state } = await rig.send('GET', `${prefix}/music/${named}`);
      expectSchema('MusicStateReply', state);
      expect(state).toMatchObject({ code: 200, data: { task_id: named, status: 'QUEUED', clips: {} } });
    }
    expect(JSON.stringify(answer.body)).not.toContain(rig.upstreamId);
  });

  test('returns only the requested fields in the list', async () => {
    const { body: answer } = await rig.send('POST', '/sigma/v1/submit/music', { tags: 'folk' });
    expect(answer.data).toEqual([{ task_id: id, status: 1 }]);
  });

  test('is the same for a repeated Idempotency-Key, with one task', async () => {
    for (const [path, request] of rows) {
      rig.upstream.seen.length = 0;
      const headers = { 'idempotency-key': `a song at ${path}` };
      const first = await rig.send('POST', path, request, { headers });
      const again = await rig.send('POST', path, request, { headers });
      expect({ ...again.body, exec_time: 0 }).toEqual({ ...first.body, exec_time: 0 });
      expect(rig.sent()).toHaveLength(1);
      const other = JSON.parse(JSON.stringify(request).replaceAll(/"(?:a|The sea)"/g, '"b"')) as Json;
      expect(await rig.send('POST', path, other, { headers })).toMatchObject({
        status: 400,
        body: { error: { code: 'idempotency_key_reused' } },
      });
    }
  });
});

describe('an upstream’s response to a request', () => {
  const route = `POST ${musicPath}`;
  const words = 'The words are not suitable.';
  const refused: [string, Answer, number, string][] = [
    ['invalid JSON', [200, '<html>'], 502, 'bad_response'],
    ['a rejection', [400, { code: 'sensitive_words', message: words, data: null }], 400, 'sensitive_words'],
    [
      'a refusal with 200',
      [200, { code: 'sensitive_words', message: words, data: null }],
      400,
      'sensitive_words',
    ],
    ['throttling', [429, { code: 'rate_limit', message: 'slow', data: null }], 429, 'rate_limit_exceeded'],
    [
      'a rejected key',
      [401, { code: 'invalid_api_key', message: 'no', data: null }],
      502,
      'bad_response_status_code',
    ],
    ['a failure', [500, { code: 'error', message: 'no', data: null }], 502, 'bad_response_status_code'],
    ['that it is away', [503, { code: 'away', message: 'no', data: null }], 503, 'get_channel_failed'],
    ['a closed connection', 'hang up', 502, 'do_request_failed'],
  ];
  test.each(refused)('%s is mapped without a charge', async (_, answer, status, code) => {
    rig.instead.set(route, answer);
    const { key, id } = await makeKey(rig.gateway, { quota: 100 });
    const response = await rig.send('POST', musicPath, { prompt: 'The sea' }, { key });
    expect(response).toMatchObject({ status, body: { error: { code } } });
    expect(JSON.stringify(response.body)).not.toMatch(/10\.0\.0\.7|key-of/);
    expect(await remainingQuota(rig.gateway, id)).toBe(100);
    expect((await ledgerRows(rig.gateway)).at(-1)).toMatchObject({ state: 'refunded', reserved: 20 });
  });

  test.each([
    [429, 2],
    [503, 2],
    [500, 1],
    [400, 1],
  ])('with %i is sent to %i accounts', async (status, accounts) => {
    rig.instead.set(route, [status, { code: 'no', message: 'no', data: null }]);
    await rig.send('POST', musicPath, { prompt: 'The sea' });
    expect(rig.sent().map(({ channel }) => channel)).toEqual(['near', 'far'].slice(0, accounts));
  });
});

describe('a request is rejected', () => {
  const rows: [string, string, Json, string][] = [
    ['a private callback', musicPath, { prompt: 'a', callback_url: 'http://127.0.0.1/a' }, 'callback_url'],
    [
      'the same by its other name',
      musicPath,
      { prompt: 'a', notify_hook: 'http://localhost/a' },
      'notify_hook',
    ],
    [
      'the same in format A',
      '/sigma/v1/music',
      { input: { prompt: 'a' }, notify_hook: 'http://10.0.0.1/' },
      'notify_hook',
    ],
    [
      'a callback that nobody would call',
      '/sigma/v1/music',
      { input: { prompt: 'a', notify_hook: 'https://app.example/' } },
      'input.notify_hook',
    ],
    [
      'another',
      '/sigma/v1/music',
      { input: { prompt: 'a', callback_url: 'https://app.example/' } },
      'input.callback_url',
    ],
    ['lyrics in inspiration mode', musicPath, { prompt: 'a'.repeat(201), custom_mode: false }, 'prompt'],
  ];
  test.each(rows)('for %s', async (_, path, body, field) => {
    const response = await rig.send('POST', path, body);
    expect(response).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', message: expect.stringContaining(`${field}: `) } },
    });
    expect(rig.sent()).toEqual([]);
  });

  test.each([
    [1, 200],
    [true, 200],
    [0, 400],
    [undefined, 400],
  ])('for the limit of its mode, %j', async (custom_mode, status) => {
    for (const [path, body] of [
      [musicPath, { prompt: 'a'.repeat(3000), custom_mode }],
      ['/sigma/v1/music', { input: { prompt: 'a'.repeat(3000) }, custom_mode }],
    ] as const)
      expect((await rig.send('POST', path, body)).status).toBe(status);
  });

  test('without quota for two songs or lyrics, before an upstream request', async () => {
    const { key } = await makeKey(rig.gateway, { quota: 19 });
    const response = await rig.send('POST', musicPath, { prompt: 'a' }, { key });
    expect(response).toMatchObject({ status: 403, body: { error: { code: 'insufficient_user_quota' } } });
    expect(JSON.stringify(response.body)).toContain('2 tracks of sigma_music');
    const { key: poor } = await makeKey(rig.gateway, { quota: 9 });
    const lyrics = await rig.send('POST', '/sigma/submit/lyrics', { prompt: 'a' }, { key: poor });
    expect(JSON.stringify(lyrics.body)).toContain('1 actions of sigma_lyrics');
    expect(rig.sent()).toEqual([]);
  });

  test('for a key that may not use the model', async () => {
    const { key } = await makeKey(rig.gateway, { quota: 100, modelLimits: ['sigma_lyrics'] });
    expect(await rig.send('POST', musicPath, { prompt: 'a' }, { key })).toMatchObject({
      status: 403,
      body: { error: { code: 'access_denied' } },
    });
    expect((await rig.send('POST', '/sigma/submit/lyrics', { prompt: 'a' }, { key })).status).toBe(200);
  });

  test.each(['/v1/videos', '/v1/audio/speech'])('at %s, which makes no music', async (path) => {
    const body = { model: 'sigma_music', prompt: 'a', input: 'a', voice: 'a' };
    expect(await rig.send('POST', path, body)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('/sigma/submit/music') } },
    });
  });
});
