import { beforeAll, describe, expect, test } from 'vitest';
import { inspectMp3, inspectWav } from '../sandbox/audio-inspection.ts';
import { MusicClient, type SigmaRecord, type SigmaReply, type Song, type Timing } from './music-client.ts';
import { readTags } from './song-tags.ts';
import { expectSchema, taskDurationMs, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream({ songSeconds: 2 });
const music = new MusicClient(client);
/** Only for tests that advance the clock a lot. */
const later = useTaskUpstream();

const lyrics = '[Verse]\nHello my river, run\n\n[Chorus]\nOver the hill';
const custom = { mv: 'chirp-hawk', custom_mode: 1, prompt: lyrics, title: 'River', tags: 'folk, 200 bpm' };

/** A task shared by most tests. */
let made: SigmaRecord;
/** Starts the engines, concurrently with other test files. */
const startTime = 60_000;
beforeAll(async () => {
  made = await music.finish(await music.submit(custom), startTime);
}, startTime);
function song(index = 0): Song {
  const found = made.data[index];
  if (!found) throw new Error('The song does not exist');
  return found;
}
/** A task that stays in one state and renders nothing. */
const unfinished = async () => await music.fetch(await music.submit({ ...custom, title: '[[never]]' }));
const get = async <Body>(path: string) => (await client.send<Body>('GET', `/sigma/${path}`)).body;

describe('a music task', () => {
  test('is queued, runs with increasing progress and ends with two songs', async () => {
    const id = await music.submit({ ...custom, make_instrumental: true });
    const queued = await music.fetch(id);
    expect(queued).toMatchObject({ task_id: id, action: 'MUSIC', status: 'QUEUED', progress: '0%' });
    client.advance(taskDurationMs / 2);
    const running = await music.fetch(id);
    expect(running).toMatchObject({
      status: 'IN_PROGRESS',
      progress: '37%',
      finish_time: 0,
      fail_reason: '',
    });
    const done = await music.finish(id);
    expect(done).toMatchObject({ status: 'SUCCESS', progress: '100%' });
    expectSchema('MusicTask', done);
    expect(done.finish_time).toBeGreaterThan(done.start_time);
    expect(done.start_time).toBeGreaterThan(done.submit_time);
    const states = [queued, running, done].map(({ data }) =>
      data.map((one) => [one.id, one.status, one.audio_url !== '', one.image_url !== '']),
    );
    const ids = queued.data.map((one) => one.id);
    expect(states).toEqual([
      ids.map((clip) => [clip, 'queued', false, false]),
      ids.map((clip) => [clip, 'streaming', false, false]),
      ids.map((clip) => [clip, 'complete', true, true]),
    ]);
    expect(done.data[0]?.metadata).toMatchObject({ has_vocal: false, make_instrumental: true, prompt: '' });
    expect((await get<Timing>(`act/timing/${ids[0]}`)).aligned_words).toEqual([]);
  });

  test('has two different songs, with titles, tags and lyrics', async () => {
    const songs = [song(0), song(1)];
    for (const one of songs) {
      expect(one.id).toBe(one.clip_id);
      expect(one).toMatchObject({ status: 'complete', title: 'River', model_name: 'chirp-hawk' });
      expect(one.metadata).toMatchObject({
        type: 'gen',
        tags: 'folk, 200 bpm',
        prompt: lyrics,
        has_vocal: true,
        make_instrumental: false,
        history: null,
      });
    }
    const [first, second] = await Promise.all(songs.map(({ audio_url }) => client.download(audio_url)));
    expect(Buffer.from(first?.bytes ?? []).equals(second?.bytes ?? Buffer.of())).toBe(false);
  });

  test('returns an MP3 with title, lyrics and cover, and the cover separately', async () => {
    const { audio_url, image_url, image_large_url, metadata } = song();
    const { bytes, type } = await client.download(audio_url);
    expect(type).toBe('audio/mpeg');
    const { frames, audio } = readTags(Buffer.from(bytes));
    expect(frames.get('TIT2')?.text).toBe('River');
    expect(frames.get('USLT')?.text).toContain('Hello my river');
    expect(frames.get('TBPM')?.text).toBe('200');
    const cover = await client.download(image_url);
    expect(cover.type).toBe('image/png');
    expect(frames.get('APIC')?.bytes.includes(cover.bytes)).toBe(true);
    expect((await client.download(image_large_url)).bytes.length).toBeGreaterThan(cover.bytes.length);
    const { sampleRate, channels, kbps, seconds } = inspectMp3(audio);
    expect({ sampleRate, channels, kbps }).toEqual({ sampleRate: 44_100, channels: 2, kbps: 192 });
    expect(seconds).toBeCloseTo(Number(metadata.duration), 0);
  });

  test('with a description generates lyrics from its words', async () => {
    const description = 'A metal song of a lighthouse by the stormy ocean';
    const id = await music.submit({ gpt_description_prompt: description, title: '[[never]]' });
    const [first, second] = (await music.fetch(id)).data;
    const { prompt, gpt_description_prompt, tags } = first?.metadata ?? {};
    expect(gpt_description_prompt).toBe(description);
    expect(tags).toBe('metal');
    expect(prompt).toMatch(/^\[Verse 1\]\n/);
    expect(String(prompt).toLowerCase()).toContain('lighthouse');
    expect([first?.title, second?.title]).toEqual([
      'Metal Lighthouse Stormy Ocean',
      'Metal Lighthouse Stormy Ocean',
    ]);
  });

  test('is unknown after 24 hours', async () => {
    const id = await new MusicClient(later).submit({ prompt: 'Snow' }, 'lyrics');
    later.advance(24 * 60 * 60 * 1000);
    for (const lost of [id, 'no-such', '%E0%A4%A']) {
      const { status, body } = await later.send<SigmaReply<null>>('GET', `/sigma/fetch/${lost}`);
      expect(status).toBe(400);
      expect(body).toEqual({ code: 'task_not_exist', message: expect.any(String), data: null });
    }
  });
});

describe('a clip', () => {
  test('is listed by feed together with others, without the unknown ones', async () => {
    const [first, second] = [song(0), song(1)];
    const ids = [first.id, 'no-such', second.id].join(',');
    expect(await get<Song[]>(`feed/${ids}`)).toEqual([first, second]);
    expect(await get<Song[]>('feed/no-such')).toEqual([]);
  });

  test('has a WAV file once it is complete', async () => {
    const running = await unfinished();
    expect(await get(`act/wav/${running.data[0]?.id}`)).toEqual({ wav_file_url: '' });
    const { id, metadata } = song();
    const { wav_file_url: url } = await get<{ wav_file_url: string }>(`act/wav/${id}`);
    const { bytes, type } = await client.download(url);
    expect(type).toBe('audio/wav');
    const { channels, sampleRate, seconds } = inspectWav(Buffer.from(bytes));
    expect({ channels, sampleRate }).toEqual({ channels: 2, sampleRate: 44_100 });
    expect(seconds).toBeCloseTo(Number(metadata.duration), 1);
  });

  test('has the time of each word, including section marks and line breaks', async () => {
    const running = await unfinished();
    expect(await get(`act/timing/${running.data[0]?.id}`)).toMatchObject({
      aligned_words: [],
      is_streamed: true,
    });
    const { id, metadata } = song();
    const timing = await get<Timing>(`act/timing/${id}`);
    expectSchema('ClipTimingReply', timing);
    const words = timing.aligned_words;
    expect(lyrics.startsWith(words.map(({ word }) => word).join(''))).toBe(true);
    expect(words.slice(0, 4).map(({ word }) => word)).toEqual(['[Verse]\nHello ', 'my ', 'river, ', 'run\n']);
    const times = words.flatMap(({ start_s, end_s }) => [start_s, end_s]);
    expect(times).toEqual(times.toSorted((first, second) => first - second));
    expect(times.at(-1)).toBeLessThanOrEqual(Number(metadata.duration));
    expect(timing.waveform_data.length).toBeGreaterThan(20);
    expect(timing.hoot_cer).toBeLessThan(1);
  });

  test('that is unknown is rejected', async () => {
    for (const path of ['act/wav/no-such', 'act/timing/no-such']) {
      const { status, body } = await client.send<SigmaReply<null>>('GET', `/sigma/${path}`);
      expect([status, body.code]).toEqual([400, 'clip_not_exist']);
    }
  });
});

describe('a task with a source clip', () => {
  test('continues it in its style, key and tempo', async () => {
    const { id } = song();
    const request = { custom_mode: 1, prompt: 'Another line', continue_clip_id: id, continue_at: 1.5 };
    const { data } = await music.make(request);
    expect(data[0]).toMatchObject({ title: 'River', status: 'complete' });
    expect(data[0]?.metadata).toMatchObject({
      tags: 'folk, 200 bpm',
      prompt: 'Another line',
      history: [{ id, continue_at: 1.5 }],
    });
    const tags = await Promise.all(
      [data[0], data[1], song()].map(async (one) => {
        const { frames } = readTags(Buffer.from((await client.download(one?.audio_url ?? '')).bytes));
        return ['TBPM', 'TKEY', 'TCON'].map((frame) => frames.get(frame)?.text);
      }),
    );
    expect(tags[0]).toEqual(tags[2]);
    expect(tags[1]).toEqual(tags[2]);
  });

  test('separates it into vocals and the rest', async () => {
    const { id } = song();
    const stems = { task: 'gen_stem', mv: 'chirp-auk', stem_task: 'two', continue_clip_id: id };
    const { data } = await music.make({ ...stems, make_instrumental: true, stem_type_id: 91 });
    expect(data.map(({ title }) => title)).toEqual(['River - Vocals', 'River - Instrumental']);
    expect(data.map(({ metadata }) => metadata)).toMatchObject([
      { type: 'stem', stem_from_id: id, stem_task: 'two', stem_type_group_name: 'Two', has_vocal: true },
      { type: 'stem', stem_from_id: id, stem_type_id: 91, has_vocal: false },
    ]);
    const [vocals, rest] = await Promise.all(data.map((stem) => get<Timing>(`act/timing/${stem.id}`)));
    expect(vocals?.aligned_words.length).toBeGreaterThan(2);
    expect(rest?.aligned_words).toEqual([]);
    const again = { ...stems, continue_clip_id: data[0]?.id };
    const { status, body } = await client.send<SigmaReply<null>>('POST', '/sigma/submit/music', again);
    expect([status, body.code]).toEqual([400, 'clip_is_stem']);
  });

  test('separates it into the audible tracks', async () => {
    const { id } = song();
    const { data } = await music.make({ task: 'gen_stem', stem_task: 'twelve', continue_clip_id: id });
    const titles = data.map(({ title }) => title);
    expect(titles).toContain('River - Vocals');
    expect(titles).toContain('River - Guitar');
    expect(titles).not.toContain('River - Brass');
    expect(data.every(({ status, audio_url }) => status === 'complete' && audio_url !== '')).toBe(true);
  });

  test('requires a complete clip', async () => {
    const running = await unfinished();
    const ask = async (continue_clip_id: string | undefined) => {
      const request = { task: 'gen_stem', continue_clip_id };
      const { status, body } = await client.send<SigmaReply<null>>('POST', '/sigma/submit/music', request);
      return [status, body.code];
    };
    expect(await ask(running.data[0]?.id)).toEqual([400, 'clip_not_ready']);
    expect(await ask('no-such')).toEqual([400, 'clip_not_exist']);
  });
});

describe('lyrics', () => {
  test('are generated from the prompt', async () => {
    const id = await music.submit({ prompt: 'A song about the old harbour in winter' }, 'lyrics');
    expect(await music.fetch(id)).toMatchObject({ action: 'LYRICS', status: 'QUEUED', data: null });
    const done = await music.finish(id);
    expectSchema('LyricsTask', done);
    const data = done.data as unknown as Record<string, string>;
    expect(data).toMatchObject({ status: 'complete', title: 'Old Harbour Winter' });
    expect(data.text).toMatch(/^\[Verse 1\]\n[^]*harbour[^]*\[Chorus\]\n/);
  });

  test('and music are fetched together or by action, without unknown tasks', async () => {
    const ids = [await music.submit({ prompt: 'Snow' }, 'lyrics'), made.task_id, 'no-such'];
    const fetchMany = async (body: object) =>
      (await client.send<SigmaReply<SigmaRecord[]>>('POST', '/sigma/fetch', body)).body.data;
    expect((await fetchMany({ ids })).map(({ task_id }) => task_id)).toEqual(ids.slice(0, 2));
    expect((await fetchMany({ ids, action: 'MUSIC' })).map(({ task_id }) => task_id)).toEqual([ids[1]]);
  });
});

describe('a bad request', () => {
  test.each<[string, string, object]>([
    ['an empty request', 'music', { mv: 'chirp-hawk' }],
    ['an empty song', 'music', { custom_mode: 1, prompt: ' ' }],
    ['a long description', 'music', { prompt: 'x'.repeat(201) }],
    ['long lyrics', 'music', { custom_mode: 1, prompt: 'x'.repeat(3001) }],
    ['long tags', 'music', { prompt: 'x', tags: 'x'.repeat(121) }],
    ['an unknown version', 'music', { prompt: 'x', mv: 'chirp-v9' }],
    ['a flag of another type', 'music', { prompt: 'x', make_instrumental: 'yes' }],
    ['a negative position', 'music', { prompt: 'x', continue_clip_id: 'x', continue_at: -1 }],
    ['an unknown task', 'music', { task: 'cover', continue_clip_id: 'x' }],
    ['stems without a source', 'music', { task: 'gen_stem' }],
    ['stems of another number', 'music', { task: 'gen_stem', continue_clip_id: 'x', stem_task: 'six' }],
    ['a slider beyond 1', 'music', { prompt: 'x', metadata: { control_sliders: { style_weight: 2 } } }],
    ['lyrics without a prompt', 'lyrics', { prompt: '' }],
  ])('with %s is rejected', async (_case, kind, request) => {
    const { status, body } = await client.send<SigmaReply<null>>('POST', `/sigma/submit/${kind}`, request);
    expect(status).toBe(400);
    expect(body).toEqual({ code: 'invalid_request', message: expect.any(String), data: null });
  });

  test.each([[{ ids: [] }], [{ ids: 'x' }], [{ ids: [1] }], [{ ids: Array(101).fill('x') }], [{}]])(
    'for tasks is rejected: %j',
    async (request) => {
      const { status, body } = await client.send<SigmaReply<null>>('POST', '/sigma/fetch', request);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
    },
  );

  test('to continue after the end is rejected', async () => {
    const { id } = song();
    const request = { prompt: 'More', continue_clip_id: id, continue_at: 100 };
    const { status, body } = await client.send<SigmaReply<null>>('POST', '/sigma/submit/music', request);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.message).toContain('continue_at');
  });
});
