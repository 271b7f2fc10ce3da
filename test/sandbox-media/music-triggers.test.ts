import { describe, expect, test } from 'vitest';
import { MusicClient, type SigmaRecord, type SigmaReply, type Song } from './music-client.ts';
import { taskDurationMs, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream({ songSeconds: 1 });
const music = new MusicClient(client);
/** Instrumental, because that renders fastest. */
const song = (title: string) => ({ title, tags: 'folk, 200 bpm', make_instrumental: 1 });
const look = (id: string) => client.send<SigmaReply<SigmaRecord | null>>('GET', `/sigma/fetch/${id}`);

describe.each([
  ['music', (words: string) => ({ prompt: `A boat ${words}` })],
  ['lyrics', (words: string) => ({ prompt: `A boat ${words}` })],
  ['music', (words: string) => song(words)],
  ['music', (words: string) => ({ custom_mode: 1, prompt: 'La', tags: words })],
] as const)('submit %s %#', (kind, request) => {
  const send = (words: string) =>
    client.send<SigmaReply<unknown>>('POST', `/sigma/submit/${kind}`, request(words));

  test.each([
    ['reject', 400, 'sensitive_words_detected'],
    ['unauthorized', 401, 'invalid_api_key'],
    ['denied', 403, 'access_denied'],
    ['throttle', 429, 'rate_limit_exceeded'],
    ['error', 500, 'internal_error'],
    ['unavailable', 503, 'service_unavailable'],
  ])('[[%s]] fails with %i', async (name, wanted, code) => {
    const { status, body, headers } = await send(`[[${name}]]`);
    expect(status).toBe(wanted);
    expect(body).toEqual({ code, message: expect.any(String), data: null });
    expect(headers.get('retry-after')).toBe(wanted === 429 ? '1' : null);
  });
});

describe('submit', () => {
  test('[[malformed]] and [[drop]] break the response', async () => {
    for (const [words, problem] of [
      ['[[malformed]]', SyntaxError],
      ['[[drop]]', 'fetch failed'],
    ] as const)
      await expect(client.send('POST', '/sigma/submit/lyrics', { prompt: words })).rejects.toThrow(problem);
  });

  test('[[hang]] sends no response until the client disconnects', async () => {
    const leave = new AbortController();
    const hanging = fetch(`${client.url}/sigma/submit/music`, {
      method: 'POST',
      body: JSON.stringify(song('[[hang]]')),
      signal: leave.signal,
    });
    const other = music.submit({ prompt: 'Other' }, 'lyrics').then(() => 'other');
    expect(await Promise.race([hanging.then(() => 'hanging'), other])).toBe('other');
    leave.abort();
    await expect(hanging).rejects.toThrow('aborted');
  });
});

describe('task', () => {
  const lyrics = (words: string) => music.submit({ prompt: words }, 'lyrics');
  const statusOf = async (id: string) => (await look(id)).body.data?.status;

  test('[[slow]] takes ten times as long', async () => {
    const id = await lyrics('[[slow]]');
    client.advance(taskDurationMs * 10 - 1);
    expect(await statusOf(id)).toBe('IN_PROGRESS');
    client.advance(1);
    expect(await statusOf(id)).toBe('SUCCESS');
  });

  test('[[never]] keeps running', async () => {
    const id = await lyrics('[[never]]');
    client.advance(20 * 60 * 60 * 1000);
    expect(await statusOf(id)).toBe('IN_PROGRESS');
  });

  test('[[unknown]] is unknown to polls', async () => {
    const { status, body } = await look(await lyrics('[[unknown]]'));
    expect([status, body.code]).toEqual([400, 'task_not_exist']);
  });

  test('[[poll-…]] affect only the first poll, alone or in a list', async () => {
    for (const [name, status] of [
      ['poll-error', 500],
      ['poll-throttle', 429],
    ] as const) {
      const id = await lyrics(`[[${name}]]`);
      expect((await look(id)).status).toBe(status);
      expect((await look(id)).status).toBe(200);
    }
    const malformed = await lyrics('[[poll-malformed]]');
    await expect(look(malformed)).rejects.toThrow(SyntaxError);
    expect((await look(malformed)).status).toBe(200);
    const dropped = await lyrics('[[poll-drop]]');
    const lookAtBoth = () => client.send('POST', '/sigma/fetch', { ids: [malformed, dropped] });
    await expect(lookAtBoth()).rejects.toThrow('fetch failed');
    expect((await lookAtBoth()).status).toBe(200);
  });

  test.each([
    ['fail-late', 'internal_error'],
    ['sensitive', 'moderation_failure'],
  ])('[[%s]] fails at the end, including its songs', async (name, code) => {
    const done = await music.make(song(`[[${name}]]`));
    expect(done).toMatchObject({ status: 'FAILURE', progress: '100%' });
    expect(done.fail_reason).not.toBe('');
    for (const one of done.data) {
      expect(one).toMatchObject({ status: 'error', audio_url: '', metadata: { error_type: code } });
      expect(one.metadata.error_message).toBe(done.fail_reason);
    }
    const feed = await client.send<Song[]>('GET', `/sigma/feed/${done.data[0]?.id}`);
    expect(feed.body).toEqual([done.data[0]]);
  });

  test('[[expire]] ends with status UNKNOWN', async () => {
    expect((await music.make(song('[[expire]]'))).status).toBe('UNKNOWN');
  });

  test('[[one-fails]] fails one of two songs', async () => {
    const { status, data } = await music.make(song('Boat [[one-fails]]'));
    expect(status).toBe('SUCCESS');
    expect(data.map((one) => [one.title, one.status, one.audio_url !== ''])).toEqual([
      ['Boat', 'complete', true],
      ['Boat', 'error', false],
    ]);
  });

  test('[[expired-url]] returns expired URLs', async () => {
    const { data } = await music.make(song('[[expired-url]]'));
    expect((await fetch(data[0]?.audio_url ?? '')).status).toBe(403);
    expect((await fetch(data[0]?.image_url ?? '')).status).toBe(403);
  });

  test('does not sing triggers', async () => {
    const id = await music.submit({ custom_mode: true, prompt: 'La [[never]] la', tags: 'folk' });
    expect((await music.fetch(id)).data[0]?.metadata.prompt).toBe(`La ${' '.repeat(9)} la`);
  });
});
