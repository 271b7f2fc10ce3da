import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from './fake-clock.ts';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const id = 'task_1';
const movie = Buffer.alloc(2_500_000, 'frame');
let folder: string;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  folder = await mkdtemp(join(tmpdir(), 'unigate-cli-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

type Answer = object | 'silence';

interface Script {
  /** Responses to the polls in order. The last one repeats. */
  polls?: Answer[];
  create?: Answer;
  file?: Buffer;
}

const video = (status: string, progress: number, more: object = {}) => ({ id, status, progress, ...more });
const completed = video('completed', 100);

/** A gateway for tasks of any kind. Records the bodies, and method and path of every call. */
async function startTaskServer({ polls = [completed], create = { id }, file = movie }: Script = {}) {
  const bodies: Record<string, unknown>[] = [];
  const calls: string[] = [];
  const remaining = [...polls];
  const url = await startStubServer(async (request, response) => {
    const { method, url: path = '' } = request;
    calls.push(`${method} ${path}`);
    if (path.endsWith('/content') || path.endsWith('.glb')) return void response.end(file);
    const text = Buffer.concat(await request.toArray()).toString();
    if (method === 'POST') bodies.push(JSON.parse(text) as Record<string, unknown>);
    const reply = method === 'POST' ? create : remaining.length > 1 ? remaining.shift() : remaining[0];
    if (reply === 'silence') return;
    const body = JSON.stringify(reply).replaceAll('SELF', `http://${request.headers.host}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  return { url, bodies, calls, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

/** Runs a command while the fake clock advances. */
async function play(...[args, surroundings]: Parameters<typeof runCommand>) {
  let settled = false;
  const outcome = runCommand(args, surroundings).finally(() => {
    settled = true;
  });
  await until(() => settled);
  return outcome;
}

describe('an invalid command line', () => {
  test.each([
    [['video'], 'A prompt, an image or a video is required.'],
    [['video', ' '], 'A prompt, an image or a video is required.'],
    [['video', 'a', 'b'], "Too many arguments for 'video'. Expected 1 argument but got 2."],
    [['video', 'a', '--seconds', 'five'], '--seconds must be a whole number.'],
    [['video', 'a', '--seed', '0.5'], '--seed must be a whole number.'],
    [['video', 'a', '--param', 'seed'], '--param must have the form key=value.'],
    [['video', 'a', '--param', '=1'], '--param must have the form key=value.'],
    [['video', 'a', '--image', 'cat.txt'], '--image must be a URL, or a file that ends in .png, .jpg'],
    [['video', 'a', '--video', 'walk.mp4'], '--video must be a URL; a local file is not accepted.'],
    [['video', 'a', '--last-frame', 'https://f.example/b.png'], '--last-frame requires --first-frame.'],
    [
      ['video', 'a', '--first-frame', 'https://f.example/a.png', '--image', 'https://f.example/b.png'],
      '--first-frame and --last-frame cannot be combined with other media.',
    ],
    [
      ['video', 'a', '--model', 'eta-imagine-video', '--seed', '1'],
      '--seed is not supported by eta-imagine-video.',
    ],
    [
      ['video', 'a', '--model', 'eta-imagine-video', '--no-audio'],
      '--no-audio is not supported by eta-imagine-video.',
    ],
    [
      '--model eta-imagine-video --first-frame https://f.example/a.png --last-frame https://f.example/b.png',
      '--last-frame is not supported by eta models.',
    ],
    [['video', 'a', '--resume', id], '--resume cannot be combined with a prompt.'],
    [['video', '--resume', id, '--seconds', '5'], '--resume cannot be combined with --seconds.'],
    [['video', '--resume', ''], '--resume requires the id of a task.'],
    [['video', 'a', '--voice', 'v'], "Unknown option '--voice'."],
    [['model3d'], 'Either a prompt or --image is required.'],
    [['model3d', 'a', '--image', 'https://f.example/a.png'], 'Either a prompt or --image is required.'],
    [['model3d', '--image', 'horse.png'], '--image must be a URL; a local file is not accepted.'],
    [['model3d', 'a', '--seed', '1'], "Unknown option '--seed'."],
  ])('%j', async (args, message) => {
    const line = typeof args === 'string' ? ['video', 'a', ...args.split(' ')] : args;
    const { env, calls } = await startTaskServer();
    const { code, stdout, stderr } = await play([...line, '-o', join(folder, 'x')], { env });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^unigate: .* See unigate --help\.\n$/);
    expect({ code, stdout: stdout.length, calls }).toEqual({ code: 2, stdout: 0, calls: [] });
    expect(await readdir(folder)).toEqual([]);
  });

  test('is rejected if it would write a video to a terminal', async () => {
    const { env } = await startTaskServer();
    const { code, stderr } = await play(['video', 'a'], { env, isTTY: true });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-o FILE is required'),
    });
  });
});

describe('the request', () => {
  const [a, b] = ['https://f.example/a.png', 'https://f.example/b.png'];
  const plain = '--seconds 5 --size 720p --ratio 9:16';

  test.each<[string, string, object]>([
    ['gamma3.0-video', '', {}],
    [
      'gamma3.0-video',
      `${plain} --no-audio --seed 0 --param prompt_extend=false --param watermark=true`,
      {
        seconds: '5',
        size: '720p',
        metadata: {
          parameters: { ratio: '9:16', audio: false, seed: 0, prompt_extend: false, watermark: true },
        },
      },
    ],
    ['gamma3.0-video', `--first-frame ${a} --last-frame ${b}`, { images: [a, b] }],
    ['gamma3.0-video', `--first-frame ${a}`, { images: [a] }],
    [
      'gamma3.0-video',
      `--reference-image ${a} --reference-image ${b} --video https://f.example/w.mp4 --seconds=-1`,
      {
        reference_images: [{ url: a }, { url: b }],
        video: { url: 'https://f.example/w.mp4' },
        seconds: '-1',
      },
    ],
    [
      'epsilon-delta-2-0-260128',
      `${plain} --no-audio --seed 42 --image asset://asset-1-a --param service_tier=flex`,
      {
        seconds: '5',
        size: '720p',
        image: 'asset://asset-1-a',
        metadata: { ratio: '9:16', generate_audio: false, seed: 42, service_tier: 'flex' },
      },
    ],
    [
      'zeta-delta-2-0-fast-260128',
      `--first-frame ${a} --last-frame ${b} --seed 1`,
      {
        metadata: {
          content: [
            { type: 'text', text: 'A boat.' },
            { type: 'image_url', image_url: { url: a }, role: 'first_frame' },
            { type: 'image_url', image_url: { url: b }, role: 'last_frame' },
          ],
          seed: 1,
        },
      },
    ],
    [
      'eta-imagine-video',
      `${plain} --first-frame ${a} --param custom_domain=f.example`,
      { seconds: '5', resolution: '720p', aspect_ratio: '9:16', image: a, custom_domain: 'f.example' },
    ],
  ])('of %s %s', async (model, args, expected) => {
    const { env, bodies } = await startTaskServer();
    const line = ['video', 'A boat.', '--model', model, ...args.split(' ').filter(Boolean)];
    expect(await play(line, { env })).toMatchObject({ code: 0, stderr: `task ${id}\n` });
    expect(bodies).toEqual([{ model, prompt: 'A boat.', ...expected }]);
  });

  test('has a model by default, and a prompt from standard input', async () => {
    const { env, bodies } = await startTaskServer();
    await play(['video', '-'], { env, stdin: 'A boat.\n' });
    expect(bodies).toEqual([{ model: 'gamma3.0-video-prime', prompt: 'A boat.\n' }]);
  });

  test('contains files as data URLs, without a prompt', async () => {
    const { env, bodies } = await startTaskServer();
    const path = join(folder, 'cat.PNG');
    await writeFile(path, 'picture');
    await play(['video', '--image', path, '--reference-image', path], { env });
    const url = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
    expect(bodies).toEqual([{ model: 'gamma3.0-video-prime', image: url, reference_images: [{ url }] }]);
  });

  test('is not sent when a file cannot be read', async () => {
    const { env, calls } = await startTaskServer();
    const { code, stderr } = await play(['video', 'a', '--image', join(folder, 'no.png')], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^unigate: .*no\.png: the file or its folder does not exist \(ENOENT\)\.\n$/,
      ),
    });
    expect(calls).toEqual([]);
  });
});

describe('the progress', () => {
  const polls = [video('queued', 0), video('in_progress', 25), video('in_progress', 60), completed];

  test('on a terminal: state, percent, bytes, and the file', async () => {
    const { env } = await startTaskServer({ polls });
    const path = join(folder, 'clip.mp4');
    const { code, stderr } = await play(['video', 'a', '-o', path], { env, isTTY: true });
    // Compares each line once, because the number of updates depends on the time.
    const lines = new Set(stderr.split('\r\x1b[K').map((line) => line.replace(/ \d+ s$/, ' … s')));
    expect(code).toBe(0);
    expect([...lines].filter((line) => !/^[\d.]+ .B of 2\.5 MB (?!100)/.test(line))).toEqual([
      '',
      'starting … s',
      'task task_1\n',
      'queued … s',
      'in_progress … s',
      'in_progress 60 % ████████████░░░░░░░░ … s',
      'completed 100 % ████████████████████ … s',
      '2.5 MB of 2.5 MB 100 % ████████████████████',
      `${path}: 2.5 MB\n`,
    ]);
    expect(Buffer.compare(await readFile(path), movie)).toBe(0);
    expect(await readdir(folder)).toEqual(['clip.mp4']);
  });

  test('shows time and no bar if each state has a constant percent', async () => {
    const halfway = [video('queued', 10), video('in_progress', 50), video('in_progress', 50), completed];
    const { env } = await startTaskServer({ polls: halfway });
    const args = ['video', 'a', '-o', join(folder, 'clip.mp4')];
    const { stderr } = await play(args, { env, isTTY: true });
    expect(stderr).toMatch(/in_progress \d+ s/);
    expect(stderr.split('2.5 MB')[0]).not.toMatch(/(queued|in_progress|completed) .*█/);
  });

  test('in a pipe: the video, and its id', async () => {
    const { env } = await startTaskServer({ polls });
    const { code, stdout, stderr } = await play(['video', 'a'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'task task_1\n' });
    expect(Buffer.compare(stdout, movie)).toBe(0);
  });

  test('with --quiet: nothing', async () => {
    const { env } = await startTaskServer({ polls });
    const path = join(folder, 'clip.mp4');
    expect(await play(['video', 'a', '-q', '-o', path], { env, isTTY: true })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });
});

describe('an error', () => {
  test('of a task prints one line and writes no file', async () => {
    const failed = video('failed', 40, { error: { code: 'content_moderated', message: 'Held\nback.' } });
    const { env } = await startTaskServer({ polls: [failed] });
    const { code, stderr } = await play(['video', 'a', '-o', join(folder, 'clip.mp4')], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'task task_1\nunigate: content_moderated: Held back. [task_1]\n',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('for an empty file prints the command to resume', async () => {
    const { env } = await startTaskServer({ file: Buffer.alloc(0) });
    const path = join(folder, 'my clip.mp4');
    const { code, stderr } = await play(['video', 'a', '-o', path], { env });
    const again = `npx unigate video --resume task_1 -o '${path}'`;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `task task_1\nunigate: The gateway sent an empty file. Resume with: ${again}\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('for a file that cannot be written sends no request', async () => {
    const { env, calls } = await startTaskServer();
    expect(await play(['video', 'a', '-o', join(folder, 'no', 'clip.mp4')], { env })).toMatchObject({
      code: 1,
    });
    expect(calls).toEqual([]);
  });
});

describe('an interrupted command', () => {
  const again = (path: string, more = '') =>
    `task task_1\nunigate: stopped. Resume with: npx unigate video --resume task_1 -o ${path}${more}\n`;

  test('prints the command to resume, which creates no second task', async () => {
    const { env, calls } = await startTaskServer({ polls: ['silence', completed] });
    const path = join(folder, 'clip.mp4');
    const stop = new AbortController();
    const stopped = play(['video', 'a', '-o', path], { env, signal: stop.signal });
    await until(() => calls.includes('GET /v1/videos/task_1'));
    stop.abort();
    expect(await stopped).toMatchObject({ code: 1, stderr: again(path) });
    expect(await readdir(folder)).toEqual([]);

    expect(await play(['video', '--resume', id, '-o', path], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(Buffer.compare(await readFile(path), movie)).toBe(0);
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(1);
  });

  test('prints the gateway if the command line contains it', async () => {
    const { url, calls } = await startTaskServer({ polls: ['silence'] });
    const stop = new AbortController();
    const args = ['video', 'a', '--base-url', url, '--key', 'sk-secret'];
    const stopped = play(args, { signal: stop.signal });
    await until(() => calls.includes('GET /v1/videos/task_1'));
    stop.abort();
    expect(await stopped).toMatchObject({ code: 1, stderr: again('-', ` --base-url ${url}`) });
  });

  test.each(['clip.mp4', '-'])('waits for the id of a task that is being created: -o %s', async (name) => {
    const requested = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const url = await startStubServer(async (_, response) => {
      requested.resolve();
      await released.promise;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
    });
    const output = name === '-' ? name : join(folder, name);
    const stop = new AbortController();
    const env = { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
    const stopped = runCommand(['video', 'a', '-o', output], { env, signal: stop.signal });
    await requested.promise;
    stop.abort();
    released.resolve();
    expect(await stopped).toMatchObject({ code: 1, stderr: again(output) });
  });

  test('gives up 5 s later without an id', async () => {
    const { env, calls } = await startTaskServer({ create: 'silence' });
    const stop = new AbortController();
    const stopped = play(['video', 'a'], { env, signal: stop.signal });
    await until(() => calls.length === 1);
    stop.abort();
    expect(await stopped).toMatchObject({ code: 1, stderr: 'unigate: stopped.\n' });
  });
});

describe('model3d', () => {
  const made = {
    output: { task_id: id, task_status: 'SUCCEEDED', results: { pbr_model_url: 'SELF/horse.glb' } },
  };

  test.each([
    [
      ['A horse.', '--param', 'texture_quality=detailed'],
      { prompt: 'A horse.' },
      { parameters: { texture_quality: 'detailed' } },
    ],
    [['--image', 'https://f.example/horse.png'], { image: 'https://f.example/horse.png' }, {}],
  ])('%j', async (args, input, more) => {
    const create = { output: { task_id: id, task_status: 'PENDING' } };
    const { env, bodies, calls } = await startTaskServer({
      create,
      polls: [made],
      file: Buffer.from('glTF'),
    });
    const path = join(folder, 'horse.glb');
    expect(await play(['model3d', ...args, '-o', path], { env })).toMatchObject({
      code: 0,
      stderr: `task ${id}\n`,
    });
    expect(await readFile(path, 'utf8')).toBe('glTF');
    expect(bodies).toEqual([{ model: 'theta-3d', input, ...more }]);
    expect(calls).toContain('GET /horse.glb');
  });

  test('shows the state without a percent', async () => {
    const polls = [{ output: { task_id: id, task_status: 'RUNNING' } }, made];
    const { env } = await startTaskServer({ polls });
    const args = ['model3d', '--resume', id, '-o', join(folder, 'horse.glb')];
    const { stderr } = await play(args, { env, isTTY: true });
    expect(stderr).toMatch(/(\r\x1b\[KRUNNING \d+ s){2,}\r\x1b\[KSUCCEEDED \d+ s\r\x1b\[K/);
  });
});
