import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BadRequestError, TaskFailedError, Unigate } from '../../client/index.ts';
import { png } from '../sandbox-media/media-files.ts';
import { compiled } from '../support/child-node.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { collect } from './socket-server.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const run = promisify(execFile);
/** Rendering media takes seconds, and other tests share the cores. */
const patience = 120_000;

let gateway: TestGateway;
let client: Unigate;
let env: Record<string, string>;
let folder: string;
beforeAll(async () => {
  gateway = await startTestGateway({
    callbacks: { allowPrivate: true, secret: undefined },
    sandboxDraft: false,
  });
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
  folder = await mkdtemp(join(tmpdir(), 'unigate-video-'));
  env = { ...compiled, UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const prompt = 'A paper boat sails down a rainy street.';
// Tasks take seconds, so the tests run concurrently.
const often = { pollIntervalMs: 100 };

async function factsOf(path: string) {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await readFile(path)) });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('There is no video track');
  return {
    size: [await track.getDisplayWidth(), await track.getDisplayHeight()],
    seconds: Math.round((await track.computeDuration()) * 10) / 10,
    frameRate: Math.round((await track.computePacketStats()).averagePacketRate),
    audio: (await input.getPrimaryAudioTrack()) !== null,
  };
}

/** Returns the response with a connection that breaks after a number of bytes. */
function cutOff(response: Response, count: number): Response {
  let left = count;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (left === 0) throw new TypeError('terminated');
      controller.enqueue(chunk.subarray(0, left));
      left -= Math.min(left, chunk.byteLength);
    },
  });
  return new Response(response.body?.pipeThrough(cut), response);
}

test.concurrent('a gamma video is awaited and downloaded', { timeout: patience }, async () => {
  const reported: [string, number | undefined][] = [];
  const parameters = { ratio: '16:9', audio: false, seed: 0 } as const;
  const video = await client.videos.createAndWait(
    { model: 'gamma3.0-video-prime', prompt, seconds: '2', size: '480P', metadata: { parameters } },
    { ...often, onProgress: ({ status, percent }) => reported.push([status, percent]) },
  );
  expect(video).toMatchObject({ status: 'completed', progress: 100, seconds: '2', size: '480P' });
  expect(reported.at(-1)).toEqual(['completed', 100]);
  const percents = reported.map(([, percent]) => percent ?? 0);
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));

  const path = join(folder, 'clip.mp4');
  let last: [number, number | undefined] = [0, 0];
  await client.videos.downloadTo(video.id, path, { onBytes: (bytes, total) => (last = [bytes, total]) });
  expect(await factsOf(path)).toEqual({ size: [854, 480], seconds: 2, frameRate: 30, audio: false });
  const bytes = (await readFile(path)).length;
  expect(last).toEqual([bytes, bytes]);

  // Downloads again over a connection that breaks.
  const answers: (string | null)[] = [];
  const breaking = async (request: Request) => {
    const response = await fetch(request);
    answers.push(`${response.status} ${response.headers.get('content-range')}`);
    return answers.length === 1 ? cutOff(response, 10_000) : response;
  };
  const unlucky = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key, fetch: breaking });
  await unlucky.videos.downloadTo(video.id, join(folder, 'copy.mp4'));
  expect(Buffer.compare(await readFile(join(folder, 'copy.mp4')), await readFile(path))).toBe(0);
  expect(answers).toEqual(['200 null', `206 bytes 10000-${bytes - 1}/${bytes}`]);

  const ids = (await collect(client.videos.list())).map(({ id }) => id);
  expect(ids).toContain(video.id);
  expect(await client.videos.delete(video.id)).toMatchObject({ deleted: true });
  expect((await collect(client.videos.list())).map(({ id }) => id)).not.toContain(video.id);
});

test.concurrent('the same idempotency key creates one task', { timeout: patience }, async () => {
  const body = { model: 'gamma3.0-video', prompt, seconds: '2' };
  const options = { idempotencyKey: 'twice' };
  const tasks = [await client.videos.create(body, options), await client.videos.create(body, options)];
  expect(tasks[1]?.id).toBe(tasks[0]?.id);
  await expect(client.videos.create({ ...body, seconds: '3' }, options)).rejects.toMatchObject({
    constructor: BadRequestError,
    code: 'idempotency_key_reused',
  });
});

test.concurrent('a task that fails late', { timeout: patience }, async () => {
  const body = { model: 'gamma3.0-video-prime', prompt: `${prompt} [[fail-late]]`, seconds: '2' };
  const error: unknown = await client.videos.createAndWait(body, often).catch((cause: unknown) => cause);
  expect(error).toMatchObject({
    constructor: TaskFailedError,
    taskId: expect.stringMatching(/^task_/),
    task: { status: 'failed' },
  });
});

test.concurrent('a video in each of the other formats', { timeout: patience }, async () => {
  const [path, seconds] = [join(folder, 'clip'), '2'];
  const gamma = async () => {
    const parameters = { resolution: '480P', ratio: '1:1', duration: 2 } as const;
    const body = { model: 'gamma3.0-video-prime', input: { prompt }, parameters };
    const video = await client.nativeVideos.createAndWait(body, often);
    expect(video).toMatchObject({ output: { task_status: 'SUCCEEDED' }, usage: { SR: 480, ratio: '1:1' } });
    await client.nativeVideos.downloadTo(video.output.task_id, `${path}-native.mp4`);
    expect(await factsOf(`${path}-native.mp4`)).toMatchObject({
      size: [480, 480],
      seconds: 2,
      frameRate: 30,
    });
  };
  const seedance = async () => {
    const body = { model: 'epsilon-delta-2-0-260128', prompt, seconds: '4', size: '480p' };
    const record = await client.videoGenerations.createAndWait(body, often);
    if (!('code' in record)) throw new Error('It is no family record');
    expect(record.data).toMatchObject({ status: 'SUCCESS', progress: '100%' });
    await client.videoGenerations.downloadTo(record.data.task_id, `${path}-record.mp4`);
    expect(await factsOf(`${path}-record.mp4`)).toMatchObject({ seconds: 4, frameRate: 24 });
  };
  const eta = async () => {
    const video = await client.videos.createAndWait({ model: 'eta-imagine-video', prompt, seconds }, often);
    await client.videos.downloadTo(video.id, `${path}-eta.mp4`);
    expect(await factsOf(`${path}-eta.mp4`)).toMatchObject({ seconds: 2 });
  };
  await Promise.all([gamma(), seedance(), eta()]);
});

test.concurrent('the command line creates a video', { timeout: patience }, async () => {
  const path = join(folder, 'portrait.mp4');
  const args = [
    'video',
    prompt,
    '--seconds',
    '2',
    '--size',
    '480p',
    '--ratio',
    '9:16',
    '--no-audio',
    '-o',
    path,
  ];
  const reported = expect.stringMatching(/^task task_\w+\n$/);
  expect(await runCommand(args, { env })).toMatchObject({ code: 0, stderr: reported });
  expect(await factsOf(path)).toEqual({ size: [480, 854], seconds: 2, frameRate: 30, audio: false });
});

test.concurrent('the command line creates a 3D model', { timeout: patience }, async () => {
  const path = join(folder, 'horse.glb');
  expect(await runCommand(['model3d', 'A wooden rocking horse.', '-o', path], { env })).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^task task_\w+\n$/),
  });
  const glb = await readFile(path);
  expect(glb.toString('latin1', 0, 4)).toBe('glTF');
  expect(glb.readUInt32LE(8)).toBe(glb.length);
});

test.concurrent('the example of the README writes a playable file', { timeout: patience }, async () => {
  const root = join(import.meta.dirname, '../..');
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)].find(([, code]) =>
    code?.includes('createAndWait('),
  );
  const program = example?.[1]?.replace('@unigate/client', join(root, 'client/index.ts')) ?? '';
  await writeFile(join(folder, 'script.ts'), program);
  const { stdout } = await run(process.execPath, ['script.ts'], { cwd: folder, env });
  expect(stdout).toMatch(/^task_\w+ completed 100$/m);
  const { size } = await stat(join(folder, 'boat.mp4'));
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(`${size} of ${size}`);
  expect(await factsOf(join(folder, 'boat.mp4'))).toMatchObject({ seconds: 5, frameRate: 30, audio: true });
});

test('an asset, an official video that references it, and a rejected asset', {
  timeout: patience,
}, async () => {
  const url = await startStubServer((request, response) => {
    response.end(request.url === '/cat.png' ? png(400, 300) : 'no picture');
  });
  const refused = client.assets.uploadAndWait({ url: `${url}/cat.txt`, asset_type: 'Image' }, often);
  const errorBody = refused.catch((cause: unknown) => cause);
  const asset = await client.assets.uploadAndWait({ url: `${url}/cat.png`, asset_type: 'Image' }, often);
  expect(await client.assets.retrieve(asset.Id)).toMatchObject({ Status: 'Active' });
  const cat = {
    type: 'image_url',
    image_url: { url: `asset://${asset.Id}` },
    role: 'reference_image',
  } as const;
  const content = [{ type: 'text', text: 'The cat walks through the door.' } as const, cat];
  const body = { model: 'epsilon-delta-2-0-260128', content, resolution: '480p', duration: 4 } as const;
  const video = await client.officialVideos.createAndWait(body, often);
  const path = join(folder, 'cat.mp4');
  await client.officialVideos.downloadTo(video.id, path);
  expect(await factsOf(path)).toMatchObject({ seconds: 4, frameRate: 24 });
  await client.officialVideos.delete(video.id);
  expect(await errorBody).toMatchObject({ constructor: TaskFailedError, task: { Status: 'Failed' } });
});
