import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-image-'));
});
afterEach(() => rm(folder, { recursive: true }));

const button = (number: number) => ({
  customId: `IJ::JOB::upsample::${number}::9f`,
  label: `U${number}`,
  emoji: '',
});

/** A gateway whose first job is a grid and whose second job is one of its images, each with its own status. */
async function startTaskServer(...states: [grid?: string, picture?: string]) {
  const [grid = 'SUCCESS', picture = 'SUCCESS'] = states;
  const bodies: Record<string, unknown>[] = [];
  const calls: string[] = [];
  const url = await startStubServer(async (request, response) => {
    const { method, url: path = '' } = request;
    calls.push(`${method} ${path}`);
    if (path.startsWith('/files/')) return void response.end(path.slice('/files/'.length));
    const text = Buffer.concat(await request.toArray()).toString();
    if (method === 'POST') bodies.push(JSON.parse(text) as Record<string, unknown>);
    const id = path.split('/')[3] ?? '';
    const submitted = {
      code: 1,
      description: '',
      result: path.endsWith('action') ? 'job_2' : 'job_1',
      properties: {},
    };
    const status = id === 'job_2' ? picture : grid;
    const job = {
      id,
      status,
      progress: '40%',
      imageUrl: `http://${request.headers.host}/files/${id}`,
      buttons: [1, 2, 3, 4].map(button),
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(method === 'POST' ? submitted : job));
  });
  return { bodies, calls, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

test.each([
  [['image'], 'A prompt is required.'],
  [['image', 'a', 'b'], "Too many arguments for 'image'. Expected 1 argument but got 2."],
  [['image', 'a', '--upscale', '5'], '--upscale must be 1, 2, 3 or 4.'],
  [
    ['image', 'a', '--reference-image', 'https://f.example/a.png'],
    '--reference-image must be a file, not a URL.',
  ],
  [
    ['image', 'a', '--reference-image', 'a.txt'],
    '--reference-image must be a URL, or a file that ends in .png',
  ],
  [
    ['image', '--resume', 'job_1', '--reference-image', 'a.png'],
    '--resume cannot be combined with --reference-image.',
  ],
])('rejects the command line %j', async (args, message) => {
  const { calls, env } = await startTaskServer();
  const { code, stderr } = await runCommand(args, { env });
  expect({ code, stderr, calls }).toEqual({ code: 2, stderr: expect.stringContaining(message), calls: [] });
});

test('writes the grid', async () => {
  const { bodies, env } = await startTaskServer();
  const [path, reference] = [join(folder, 'grid.png'), join(folder, 'ref.png')];
  await writeFile(reference, 'picture');
  const args = ['image', 'a harbour', '--reference-image', reference, '-o', path];
  expect(await runCommand(args, { env })).toMatchObject({ code: 0, stderr: 'task job_1\n' });
  expect(await readFile(path, 'utf8')).toBe('job_1');
  const url = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
  expect(bodies).toEqual([{ prompt: 'a harbour', base64Array: [url] }]);
});

describe('--upscale', () => {
  test('presses the button and writes the image', async () => {
    const { bodies, env } = await startTaskServer();
    const path = join(folder, 'harbour.png');
    const { code, stderr } = await runCommand(['image', 'a harbour', '--upscale', '3', '-o', path], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'task job_1\ntask job_2\n' });
    expect(await readFile(path, 'utf8')).toBe('job_2');
    expect(bodies).toEqual([
      { prompt: 'a harbour' },
      { taskId: 'job_1', customId: 'IJ::JOB::upsample::3::9f' },
    ]);
  });

  test.each([
    ['the grid', 'IN_PROGRESS', 'SUCCESS', 'GET /imgjob/task/job_1/fetch', 'job_1 -o FILE --upscale 2', 1],
    ['the image', 'SUCCESS', 'IN_PROGRESS', 'GET /imgjob/task/job_2/fetch', 'job_2 -o FILE', 0],
  ])('interrupted at %s, prints the command to resume', async (_, grid, image, last, rest, presses) => {
    const { calls, env } = await startTaskServer(grid, image);
    const path = join(folder, 'a.png');
    const stop = new AbortController();
    const args = ['image', 'a harbour', '--upscale', '2', '-o', path];
    const running = runCommand(args, { env, signal: stop.signal });
    await expect.poll(() => calls).toContain(last);
    stop.abort();
    const { stderr } = await running;
    const again = `npx unigate image --resume ${rest.replace('FILE', path)}`;
    expect(stderr.split('\n').at(-2)).toBe(`unigate: stopped. Resume with: ${again}`);
    expect(await readdir(folder)).toEqual([]);

    const { env: done, bodies } = await startTaskServer();
    expect(await runCommand(again.split(' ').slice(2), { env: done })).toMatchObject({ code: 0 });
    expect(await readFile(path, 'utf8')).toBe('job_2');
    expect(bodies).toHaveLength(presses);
  });
});

test('prints one line for a failed job and writes no file', async () => {
  const { env } = await startTaskServer('FAILURE');
  const { code, stderr } = await runCommand(['image', 'a', '-o', join(folder, 'a.png')], { env });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'task job_1\nunigate: FAILURE: The task failed. [job_1]\n',
  });
  expect(await readdir(folder)).toEqual([]);
});
