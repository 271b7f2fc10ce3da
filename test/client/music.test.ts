import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TaskFailedError, UnigateError } from '../../client/index.ts';
import { collect } from './socket-server.ts';
import { json, silence, stubClient } from './stub-fetch.ts';

const record = (task_id: string, status: string, data: object[] = [], action = 'MUSIC') => ({
  code: 'success',
  message: '',
  data: { task_id, action, status, fail_reason: '', progress: '0%', data },
});
const song = (id: string, more: object = {}) => ({ id, clip_id: id, status: 'complete', ...more });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a response with several tasks', () => {
  const created = { code: 200, msg: 'ok', data: ['t1', 't2'].map((task_id) => ({ task_id, status: 1 })) };

  test('waits for all of them and returns their songs in order', async () => {
    const { client } = stubClient(
      [
        created,
        record('t1', 'IN_PROGRESS'),
        record('t2', 'SUCCESS', [song('c')]),
        record('t1', 'SUCCESS', [song('a'), song('b')]),
      ].map((body) => json(body)),
    );
    const reported: string[] = [];
    const songs = client.music.createAndWait(
      { prompt: 'p' },
      { onProgress: ({ id, status }) => reported.push(`${id} ${status}`) },
    );
    await vi.runAllTimersAsync();
    expect((await songs).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(reported).toEqual(['t1 IN_PROGRESS', 't2 SUCCESS', 't1 SUCCESS']);
  });

  test('stops at the first failure and polls no more', async () => {
    const bodies = [created, record('t1', 'IN_PROGRESS'), record('t2', 'FAILURE')];
    const { client, fetch } = stubClient(bodies.map((body) => json(body)));
    const outcome = client.music.createAndWait({ prompt: 'p' }).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await outcome).toMatchObject({ constructor: TaskFailedError, taskId: 't2' });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test('stops on a signal', async () => {
    const { client } = stubClient([json(created), silence, silence]);
    const stop = new AbortController();
    const outcome = client.music
      .createAndWait({ prompt: 'p' }, { signal: stop.signal })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    expect(await outcome).toMatchObject({ name: 'AbortError', taskId: expect.stringMatching(/^t[12]$/) });
  });
});

test('invalid options start no task', async () => {
  const { client, fetch } = stubClient([]);
  for (const wait of [
    client.music.createAndWait({ prompt: 'p' }, { timeoutMs: 0 }),
    client.lyrics.createAndWait({ prompt: 'p' }, { timeoutMs: 0 }),
  ])
    await expect(wait).rejects.toThrow('timeoutMs');
  expect(fetch).not.toHaveBeenCalled();
});

test('rejects a task of the other kind', async () => {
  const { client } = stubClient([json(record('t1', 'SUCCESS', [], 'LYRICS')), json(record('t2', 'SUCCESS'))]);
  await expect(client.music.waitFor('t1')).rejects.toThrow('t1 is a lyrics task.');
  await expect(client.lyrics.retrieve('t2')).rejects.toThrow(new UnigateError('t2 is a music task.'));
});

test('several tasks and several songs are retrieved in one request', async () => {
  const { client, fetch, bodies } = stubClient([
    json({ code: 'success', message: '', data: [record('t1', 'SUCCESS').data] }),
    json([song('a'), song('b')]),
  ]);
  expect(await client.music.retrieveMany(['t1', 't2'])).toMatchObject([{ task_id: 't1' }]);
  expect(bodies).toEqual([JSON.stringify({ ids: ['t1', 't2'], action: 'MUSIC' })]);
  expect(await client.music.songs(['a', 'b'])).toHaveLength(2);
  expect(decodeURIComponent(fetch.mock.calls[1]?.[0].url ?? '')).toBe(
    'http://gateway.example/sigma/feed/a,b',
  );
});

describe('the files of a song', () => {
  const urls = { audio_url: 'https://files.example/a.mp3', image_url: 'https://files.example/a.png' };

  test.each([
    [undefined, [song('a', urls)], '/sigma/feed/a', urls.audio_url],
    ['cover', [song('a', urls)], '/sigma/feed/a', urls.image_url],
    [
      'wav',
      { wav_file_url: 'https://files.example/a.wav' },
      '/sigma/act/wav/a',
      'https://files.example/a.wav',
    ],
  ] as const)('variant %s', async (variant, reply, path, url) => {
    const { client, fetch } = stubClient([json(reply), () => new Response('bytes')]);
    const file = await client.music.download('a', { variant, range: 'bytes=0-4' });
    expect(new TextDecoder().decode(await file.bytes())).toBe('bytes');
    const [lookup, download] = fetch.mock.calls.map(([request]) => request);
    expect(lookup?.url).toBe(`http://gateway.example${path}`);
    expect([download?.url, download?.headers.get('range'), download?.headers.get('authorization')]).toEqual([
      url,
      'bytes=0-4',
      null,
    ]);
  });

  test('a lost connection is resumed at a new URL', async () => {
    const part = (text: string, headers: Record<string, string>, status: number) => () =>
      new Response(text, { status, headers });
    const { client, fetch } = stubClient([
      json([song('a', urls)]),
      part('son', { 'content-length': '5' }, 200),
      json([song('a', { ...urls, audio_url: 'https://files.example/again.mp3' })]),
      part('gs', { 'content-range': 'bytes 3-4/5' }, 206),
    ]);
    const chunks = collect(client.music.receive('a'));
    await vi.runAllTimersAsync();
    expect(Buffer.concat(await chunks).toString()).toBe('songs');
    expect(fetch.mock.calls[3]?.[0].url).toBe('https://files.example/again.mp3');
  });

  test('a missing file is reported with the state of the song', async () => {
    const { client } = stubClient([json([song('a', { status: 'streaming', audio_url: '' })])]);
    await expect(client.music.urlOf('a')).rejects.toThrow(
      new UnigateError('a has no audio: its status is streaming.'),
    );
  });
});
