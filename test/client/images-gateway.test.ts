import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageSize } from 'image-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TaskFailedError, Unigate } from '../../client/index.ts';
import { png } from '../sandbox-media/media-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { runCommand } from './terminal.ts';

/** Rendering media takes seconds, and other tests share the cores. */
const patience = 120_000;

let gateway: TestGateway;
let client: Unigate;
let folder: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
  folder = await mkdtemp(join(tmpdir(), 'unigate-image-'));
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const often = { pollIntervalMs: 100 };
const prompt = 'a harbour at dusk';

test.concurrent('a grid, one of its images, and a part of it redrawn', {
  timeout: patience,
}, async () => {
  const { imageJobs } = client;
  const reported: string[] = [];
  const grid = await imageJobs.createAndWait(
    { prompt, state: 'order 7' },
    { ...often, onProgress: ({ status }) => reported.push(status) },
  );
  expect(reported.at(-1)).toBe('SUCCESS');
  expect(grid).toMatchObject({ action: 'IMAGINE', state: 'order 7' });

  const upscaled = await imageJobs.waitFor(imageJobs.idOf(await imageJobs.press(grid, 'U2')), often);
  const path = join(folder, 'two.png');
  await imageJobs.downloadTo(upscaled.id, path);
  const { width, height } = imageSize(await readFile(path));

  const opened = await imageJobs.press(upscaled, 'Vary (Region)');
  expect(opened.code).toBe(21);
  await expect(imageJobs.waitFor(imageJobs.idOf(opened), often)).rejects.toMatchObject({
    constructor: TaskFailedError,
    code: 'MODAL',
  });
  const maskBase64 = `data:image/png;base64,${Buffer.from(png(width, height)).toString('base64')}`;
  await imageJobs.modal({ taskId: imageJobs.idOf(opened), prompt: 'a lighthouse', maskBase64 });
  const changed = await imageJobs.waitFor(imageJobs.idOf(opened), often);
  expect(changed).toMatchObject({ action: 'INPAINT', status: 'SUCCESS' });

  // Does the same in one call.
  const other = await imageJobs.press(upscaled, 'Vary (Region)', { prompt: 'a boat', maskBase64 });
  expect(await imageJobs.waitFor(imageJobs.idOf(other), often)).toMatchObject({ action: 'INPAINT' });
  expect(await imageJobs.retrieveMany([grid.id, changed.id, 'nothing'])).toHaveLength(2);
});

test.concurrent('a job that fails', { timeout: patience }, async () => {
  const wait = client.imageJobs.createAndWait({ prompt: `${prompt} [[fail-late]]` }, often);
  await expect(wait).rejects.toMatchObject({ constructor: TaskFailedError, code: 'FAILURE' });
});

test.concurrent('the command line creates a grid and upscales one image', {
  timeout: patience,
}, async () => {
  const env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  const path = join(folder, 'grid.png');
  const { code, stderr } = await runCommand(['image', prompt, '--upscale', '3', '-o', path], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^(task \w+\n){2}$/) });
  expect(imageSize(await readFile(path)).type).toBe('png');
});
