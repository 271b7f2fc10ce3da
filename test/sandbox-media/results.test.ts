import { describe, expect, onTestFinished, test } from 'vitest';
import { FileStore } from '../../server/sandbox/http/file-store.ts';
import { MediaEngine } from '../../server/sandbox/media/engine.ts';
import { readFacts } from '../../server/sandbox/media/read-facts.ts';
import { Storage } from '../../server/sandbox/storage.ts';
import { plainClip, png } from './media-files.ts';
import { taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream();
const drafts = useTaskUpstream({ draft: true });
const careful = useTaskUpstream({ allowPrivateUrls: false });
const host = useFileHost();

interface Task {
  output: { task_id: string; task_status: string; video_url: string; code?: string };
}

async function finished(upstream: typeof client, input: object): Promise<Task['output']> {
  const request = {
    model: 'gamma3.0-video',
    input,
    parameters: { resolution: '480P', duration: 2, audio: false },
  };
  const { body } = await upstream.send<Task>(
    'POST',
    '/api/v1/services/aigc/video-generation/video-synthesis',
    request,
    { 'X-Native-Async': 'enable' },
  );
  upstream.advance(taskDurationMs);
  const path = `/api/v1/tasks/${body.output.task_id}`;
  return (await upstream.until<Task>(path, ({ output }) => output.task_status !== 'RUNNING')).output;
}

describe('result file', () => {
  test('is served completely and in ranges, for GET and HEAD', async () => {
    const { video_url: url } = await finished(client, { prompt: 'A boat' });
    const whole = Buffer.from((await client.download(url)).bytes);
    const part = await fetch(url, { headers: { range: 'bytes=4-11' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 4-11/${whole.length}`);
    expect(
      Buffer.from(await part.arrayBuffer())
        .toString('latin1')
        .slice(0, 4),
    ).toBe('ftyp');
    const end = await fetch(url, { headers: { range: 'bytes=-10' } });
    expect(Buffer.from(await end.arrayBuffer()).equals(whole.subarray(-10))).toBe(true);
    const beyond = await fetch(url, { headers: { range: `bytes=${whole.length}-` } });
    expect(beyond.status).toBe(416);
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(whole.length));
    expect((await fetch(url.replace('.mp4', '.png'))).status).toBe(404);
    client.advance(24 * 60 * 60 * 1000);
    expect((await fetch(url)).status).toBe(403);
  });

  test('of a draft has the same duration and aspect ratio, with few frames and lines', async () => {
    const { video_url: url } = await finished(drafts, { prompt: 'A boat' });
    const { bytes } = await drafts.download(url);
    const facts = await readFacts({ kind: 'video', bytes });
    expect(facts).toMatchObject({ width: 214, height: 120, seconds: 2, frameRate: 2 });
  });

  test('is rendered once for all downloads, and again after its eviction', async () => {
    const storage = new Storage();
    onTestFinished(() => storage.close());
    let renderCount = 0;
    const render = async (size: number) => {
      renderCount++;
      return Buffer.alloc(size);
    };
    const results = new FileStore({ folder: 'media', storage, now: () => 0, maxBytes: 15, render });
    const add = () => results.signUrl(results.storeDeferred('png', 1_000_000, 10), 1_000_000);
    const [first, second] = [add(), add()];
    const get = async (url: string) => {
      const response = {
        status: 0,
        writeHead: (status: number) => ((response.status = status), response),
        end: () => response,
      };
      const exchange = { request: { headers: {} }, response, url: new URL(url, 'http://sandbox') };
      await results.serve(exchange as unknown as Parameters<typeof results.serve>[0]);
      return response.status;
    };
    expect(await Promise.all([get(first), get(first)])).toEqual([200, 200]);
    expect(renderCount).toBe(1);
    await get(second);
    await get(first);
    expect(renderCount).toBe(3);
  });
});

describe('URL', () => {
  const image = (url: string) => ({ media: [{ type: 'first_frame', url }] });

  test('with a private address is not fetched', async () => {
    const url = host.put('a.png', png(300, 300));
    for (const address of [
      url,
      url.replace('127.0.0.1', 'localhost'),
      'http://10.0.0.1/a.png',
      'http://[::1]/a.png',
    ]) {
      expect(await finished(careful, image(address))).toMatchObject({
        task_status: 'FAILED',
        code: 'InvalidURL',
      });
    }
  });

  test('of a result of the sandbox is fetched', async () => {
    const { video_url: url } = await finished(careful, { prompt: 'A boat' });
    const input = { media: [{ type: 'reference_video', url }] };
    expect(await finished(careful, input)).toMatchObject({ task_status: 'SUCCEEDED' });
  });
});

describe('engine', () => {
  test('does not queue short jobs behind long ones', async () => {
    const engine = new MediaEngine({ workers: 1 });
    const clips = [1, 2, 3].map((seed) => engine.run('renderClip', { ...plainClip, seed, frames: 240 }));
    const first = await Promise.race([
      Promise.race(clips).then(() => 'a clip'),
      engine.run('readFacts', { kind: 'image', bytes: png(3, 4) }).then(() => 'the facts'),
    ]);
    expect(first).toBe('the facts');
    await Promise.all([Promise.allSettled(clips), engine.close()]);
  });

  test('runs jobs concurrently, reports failures, and rejects jobs when it is closed', async () => {
    const engine = new MediaEngine({ workers: 2 });
    const bad = { ...plainClip, firstFrame: 'not an image' as unknown as Uint8Array };
    const done = await Promise.allSettled([
      engine.run('renderLastFrame', plainClip),
      engine.run('renderLastFrame', bad),
      engine.run('readFacts', { kind: 'image', bytes: png(3, 4) }),
    ]);
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(done[2]).toMatchObject({ value: { format: 'png', width: 3, height: 4 } });
    const interrupted = engine.run('renderClip', { ...plainClip, frames: 2400 });
    await Promise.all([expect(interrupted).rejects.toThrow('stopped'), engine.close()]);
    await expect(engine.run('renderLastFrame', plainClip)).rejects.toThrow('closed');
  });
});
