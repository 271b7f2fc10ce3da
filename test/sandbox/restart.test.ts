import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../server/sandbox/sandbox.ts';
import { dataUrl, png } from '../sandbox-media/media-files.ts';
import { multimodalPath, SandboxClient } from './sandbox-client.ts';
import { VoiceClient } from './voice-client.ts';

const client = new SandboxClient();
const authorization = { authorization: 'Bearer k', 'content-type': 'application/json' };
/** Duration of a task on the clock of the test. */
const taskDurationMs = 10_000;
const video = { resolution: '480P', duration: 2, audio: false };
let folder: string;
let time: number;

const start = async (options: Partial<SandboxOptions> = {}) => {
  const defaults = { key: 'k', folder, now: () => time, taskDurationMs, songSeconds: 1 };
  client.sandbox = await startSandbox({ ...defaults, ...options });
};
const restart = async () => {
  await client.sandbox.close();
  await start();
  // The first request can use a connection that has just been closed.
  await vi.waitFor(() => fetch(client.sandbox.url));
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-restart-'));
  time = Date.UTC(2026, 0, 1);
  await start();
});
afterEach(async () => {
  await client.sandbox.close();
  await rm(folder, { recursive: true });
});

async function speak(): Promise<{ url: string; file: Buffer }> {
  const body = { model: 'alpha3-tts-flash', input: { text: 'Hello there.', voice: 'Aria' } };
  const { reply, file } = await client.speak(multimodalPath, body);
  return { url: reply.output.audio.url, file };
}

interface NativeTask {
  output: { task_id: string; task_status: string; video_url?: string };
}

async function createVideo(prompt: string): Promise<string> {
  const request = { model: 'gamma3.0-video', input: { prompt }, parameters: video };
  const headers = { ...authorization, 'X-Native-Async': 'enable' };
  const path = '/api/v1/services/aigc/video-generation/video-synthesis';
  const response = await fetch(client.sandbox.url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(request),
  });
  return ((await response.json()) as NativeTask).output.task_id;
}

async function get<Body>(path: string): Promise<Body> {
  return (await (await fetch(client.sandbox.url + path, { headers: authorization })).json()) as Body;
}

const poll = async (id: string) => (await get<NativeTask>(`/api/v1/tasks/${id}`)).output;
const succeeded = (id: string) =>
  vi.waitFor(async () => {
    const task = await poll(id);
    expect(task).toMatchObject({ task_status: 'SUCCEEDED' });
    return task.video_url ?? '';
  }, 10_000);

describe('a sandbox restarted with its folder', () => {
  test('serves its files at the same URLs until they expire', async () => {
    const { url, file } = await speak();
    time += 3_600_000;
    await restart();
    const again = await fetch(url);
    expect(again.status).toBe(200);
    expect(Buffer.from(await again.arrayBuffer()).equals(file)).toBe(true);
    time += 23 * 3_600_000;
    await restart();
    expect((await fetch(url)).status).toBe(403);
    expect(await readdir(join(folder, 'files'))).toEqual([]);
  });

  test('uses another port if the last one is in use, and locks its folder', async () => {
    const { url } = await speak();
    await expect(startSandbox({ key: 'k', folder })).rejects.toMatchObject({ errcode: 5 });
    const { url: last } = client.sandbox;
    await client.sandbox.close();
    const other = createServer().listen(Number(new URL(last).port), '127.0.0.1');
    try {
      await start();
      expect(client.sandbox.url).not.toBe(last);
      expect((await fetch(url.replace(last, client.sandbox.url))).status).toBe(200);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  test('resumes its tasks, and has the finished ones', async () => {
    const [running, canceled, failed, done] = [
      await createVideo('A boat.'),
      await createVideo('A kite.'),
      await createVideo('A kite. [[sensitive]]'),
      await createVideo('A house.'),
    ];
    await client.post(`/api/v1/tasks/${canceled}/cancel`, {});
    time += taskDurationMs;
    const [url, ended] = [await succeeded(done), await poll(done)];
    // Finished tasks have their files, even if no client has requested them yet.
    expect(await readdir(join(folder, 'media'))).toContain(new URL(url).pathname.split('/').at(-1));
    time -= taskDurationMs;
    const late = await createVideo('A late boat.');
    await restart();
    expect(await poll(late)).toMatchObject({ task_status: 'PENDING' });
    time += taskDurationMs;
    expect(await poll(done)).toEqual(ended);
    expect((await fetch(url)).status).toBe(200);
    expect(await poll(canceled)).toMatchObject({ task_status: 'CANCELED' });
    expect(await poll(failed)).toMatchObject({ task_status: 'FAILED', code: 'DataInspectionFailed' });
    for (const id of [running, late]) expect((await fetch(await succeeded(id))).status).toBe(200);
    time += 24 * 3_600_000;
    await restart();
    expect(await poll(done)).toMatchObject({ task_status: 'UNKNOWN' });
  });

  test('has its waiting image jobs, and accepts actions on its images', async () => {
    type Job = { status: string; imageUrl: string; buttons: { customId: string }[] };
    const submit = async (name: string, body: object) =>
      (await (await client.post(`/imgjob/submit/${name}`, body)).json()) as { code: number; result: string };
    const fetchImageJob = (id: string) => get<Job>(`/imgjob/task/${id}/fetch`);
    const finished = async (id: string) => {
      time += taskDurationMs;
      return await vi.waitFor(async () => {
        const job = await fetchImageJob(id);
        expect(job).toMatchObject({ status: 'SUCCESS' });
        return job;
      }, 10_000);
    };
    const press = (id: string, { buttons }: Job, name: string) =>
      submit('action', {
        taskId: id,
        customId: buttons.find(({ customId }) => customId.includes(name))?.customId,
      });
    const { result: grid } = await submit('imagine', { prompt: 'A boat' });
    const { result: image } = await press(grid, await finished(grid), 'upsample::1');
    const { result: region } = await press(image, await finished(image), 'Inpaint');
    const before = [await fetchImageJob(grid), await fetchImageJob(image), await fetchImageJob(region)];
    expect(before[2]).toMatchObject({ status: 'MODAL' });
    await restart();
    expect([await fetchImageJob(grid), await fetchImageJob(image), await fetchImageJob(region)]).toEqual(
      before,
    );
    const maskBase64 = dataUrl('image/png', png(64, 64, [255, 255, 255]));
    expect(await submit('modal', { taskId: region, prompt: 'A cat', maskBase64 })).toMatchObject({ code: 1 });
    await restart();
    expect((await fetch((await finished(region)).imageUrl)).status).toBe(200);
    expect(await submit('modal', { taskId: region, prompt: 'A cat', maskBase64 })).toMatchObject({ code: 4 });
  });

  test('resumes its songs, and has the finished ones with their derived files', async () => {
    interface Song {
      id: string;
      audio_url: string;
    }
    interface Reply {
      data: { status: string; data: Song[] };
    }
    const submit = async (request: object) => {
      const response = await client.post('/sigma/submit/music', request);
      return ((await response.json()) as { data: string }).data;
    };
    const look = async (id: string) => (await get<Reply>(`/sigma/fetch/${id}`)).data;
    const finished = (id: string) =>
      vi.waitFor(async () => {
        const task = await look(id);
        expect(task).toMatchObject({ status: 'SUCCESS' });
        return task;
      }, 10_000);
    const request = { title: 'Boat', tags: 'folk, 200 bpm', make_instrumental: 1 };
    const done = await submit(request);
    time += taskDurationMs;
    const ended = await finished(done);
    const running = await submit(request);
    await restart();
    expect(await look(done)).toEqual(ended);
    expect(await look(running)).toMatchObject({ status: 'QUEUED' });
    time += taskDurationMs;
    const [song] = (await finished(running)).data;
    const { wav_file_url: wav } = await get<{ wav_file_url: string }>(`/sigma/act/wav/${ended.data[0]?.id}`);
    for (const url of [ended.data[0]?.audio_url, song?.audio_url, wav])
      expect((await fetch(url ?? '')).status).toBe(200);
    const stems = await submit({ task: 'gen_stem', continue_clip_id: ended.data[1]?.id });
    time += taskDurationMs;
    expect((await finished(stems)).data).toHaveLength(2);
  });

  test('has its assets and their group', async () => {
    const task = await createVideo('A boat.');
    time += taskDurationMs;
    const upload = { url: await succeeded(task), asset_type: 'Video', name: 'boat' };
    const response = await client.post('/api/assets/upload', upload);
    const { data } = (await response.json()) as { data: { Id: string } };
    time += taskDurationMs;
    const look = () => get<{ data: { Status: string; URL: string } }>(`/api/assets/${data.Id}`);
    await vi.waitFor(async () => expect(await look()).toMatchObject({ data: { Status: 'Active' } }), 10_000);
    const before = await look();
    await restart();
    expect(await look()).toEqual(before);
    const request = {
      model: 'zeta-delta-2-0-fast-260128',
      content: [{ type: 'video_url', video_url: { url: `asset://${data.Id}` }, role: 'reference_video' }],
    };
    expect(before.data.URL).toMatch(/^http/);
    expect((await fetch(before.data.URL)).status).toBe(200);
    expect((await client.post('/api/v3/contents/generations/tasks', request)).status).toBe(400);
    const home = { ...request, model: 'epsilon-delta-2-0-fast-260128' };
    expect((await client.post('/api/v3/contents/generations/tasks', home)).status).toBe(200);
  });

  test('has its custom voices, except the deleted ones', async () => {
    const voices = new VoiceClient(client);
    const make = async (prefix: string) => {
      const input = { action: 'create_voice', target_model: 'voxa-v3-flash', prefix };
      const url = await voices.record('voxanna');
      return (await voices.act('voice-enrollment', { ...input, url })).output.voice_id;
    };
    const [kept, deleted] = [await make('kept'), await make('gone')];
    await voices.act('voice-enrollment', { action: 'delete_voice', voice_id: deleted });
    const query = () => voices.act('voice-enrollment', { action: 'query_voice', voice_id: kept });
    time += 1_000;
    const { output } = await query();
    expect(output).toMatchObject({ status: 'OK' });
    await restart();
    expect((await query()).output).toEqual(output);
    expect((await voices.synthesize('voxa-v3-flash', kept)).seconds).toBeGreaterThan(1);
    const gone = await voices.post('voice-enrollment', { action: 'query_voice', voice_id: deleted });
    expect(gone.status).toBe(404);
  });
});
