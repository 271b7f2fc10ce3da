import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { compiled } from '../support/child-node.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startSocketServer } from './socket-server.ts';
import { startStubServer } from './stub-server.ts';

const program = join(import.meta.dirname, '../../client/bin/unigate.js');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-cli-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts the command line as a process. `done` is its exit code and its output. */
function start(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...compiled, ...env } });
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const output = Promise.all([buffer(child.stdout), text(child.stderr)]);
  const done = closed.then(async ([code]) => {
    const [stdout, stderr] = await output;
    return { code, stdout, stderr };
  });
  return { child, done };
}

test('an unread response does not keep a program alive', async () => {
  const url = await startStubServer((_, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' }).end('RIFF');
  });
  const program = `
    const { Unigate } = await import(${JSON.stringify(join(import.meta.dirname, '../../client/index.ts'))});
    const client = new Unigate({ baseUrl: ${JSON.stringify(url)}, apiKey: 'k', timeout: 2 ** 31 - 1 });
    const audio = await client.speech.create({ model: 'm', voice: 'v', input: 'Hi.' });
    console.log(audio.contentType);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
  onTestFinished(() => void child.kill());
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(stdout).toBe('audio/wav\n');
});

describe('shell completion', () => {
  const complete = async (...words: string[]) => {
    const { code, stdout } = await start(['complete', '--', ...words], {}).done;
    expect(code).toBe(0);
    return stdout
      .toString()
      .split('\n')
      .map((line) => line.split('\t', 1)[0]);
  };

  test('lists the commands and options that start with the last word', async () => {
    expect(await complete('vi')).toContain('video');
    expect(await complete('vi')).not.toContain('speak');
    expect(await complete('video', '--se')).toEqual(['--seconds', '--seed', ':4', '']);
    expect(await complete('admin', 'keys', '')).toContain('revoke');
  });

  test.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await start(['completion', shell], {}).done;
    expect(code).toBe(0);
    expect(stdout.toString()).toContain('unigate');
  });

  test('refuses another shell', async () => {
    const { code, stdout, stderr } = await start(['completion', 'tcsh'], {}).done;
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Allowed choices are zsh, bash, fish, powershell');
  });
});

describe('against a gateway', () => {
  let gateway: TestGateway;
  let env: Record<string, string>;
  beforeAll(async () => {
    gateway = await startTestGateway();
    env = { UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
  });
  afterAll(() => gateway.close());

  test('writes speech to a file', async () => {
    const { done } = start(['speak', 'Good morning.', '--voice', 'Aria', '-o', 'out.wav'], env);
    expect(await done).toMatchObject({ code: 0, stderr: '' });
    const bytes = await readFile(join(folder, 'out.wav'));
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(await readdir(folder)).toEqual(['out.wav']);
  });

  test('uses the sample rate, or reports why it cannot', async () => {
    const rejected = start(['speak', 'Hi.', '--voice', 'Aria', '--sample-rate', '16000', '-o', 'a.wav'], env);
    const { code, stderr } = await rejected.done;
    expect(code).toBe(1);
    expect(stderr).toContain('sample_rate: must be 24000 for alpha3-tts-flash.');
    const taken = ['--model', 'voxa-v3-flash', '--voice', 'voxanna', '--sample-rate', '16000', '-o', 'b.wav'];
    expect(await start(['speak', 'Hi.', ...taken], env).done).toMatchObject({ code: 0, stderr: '' });
    expect((await readFile(join(folder, 'b.wav'))).readUInt32LE(24)).toBe(16_000);
    expect(await readdir(folder)).toEqual(['b.wav']);
  });

  test.each([
    [[], '--model voxa-v3-flash --voice voxanna'],
    [['--realtime', '--model', 'alpha-tts-realtime'], '--model alpha3-tts-flash-realtime --voice Aria'],
  ])('names a model that supports the format: %j', async (more, hint) => {
    const args = ['speak', 'Good morning.', '--voice', 'Aria', '-o', 'out.mp3'];
    const { code, stderr } = await start([...args, ...more], env).done;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`supports mp3: ${hint}\n`),
    });
    const able = [...args.slice(0, 2), '-o', 'out.mp3', ...more.slice(0, 1), ...hint.split(' ')];
    expect(await start(able, env).done).toMatchObject({ code: 0, stderr: '' });
    expect((await readFile(join(folder, 'out.mp3')))[0]).toBe(0xff);
  });

  test('speaks from a pipe into a pipe', async () => {
    const args = [
      'speak',
      '-',
      '--model',
      'voxa-v3-flash',
      '--voice',
      'voxanna',
      '--format',
      'mp3',
      '-o',
      '-',
    ];
    const { child, done } = start([...args, '--stream'], env);
    child.stdin.end('Good morning.\n');
    const { code, stdout, stderr } = await done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout[0]).toBe(0xff);
    expect(stdout.length).toBeGreaterThan(2_000);
  });

  test.each([
    ['--realtime', 'Aria'],
    ['--duplex', 'voxanna'],
  ])('%s: speaks from a pipe into a file', async (mode, voice) => {
    const { child, done } = start(['speak', '-', mode, '--voice', voice, '-o', 'out.wav'], env);
    child.stdin.write('Good morning. This is one line.\n');
    child.stdin.end('And this is another.\n');
    expect(await done).toMatchObject({ code: 0, stderr: '' });
    const bytes = await readFile(join(folder, 'out.wav'));
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
    expect(bytes.lastIndexOf('RIFF')).toBe(0);
    expect(bytes.length).toBeGreaterThan(2 * 24_000 * 2);
  });

  test('writes audio while the text arrives, and ends when the reader closes the pipe', async () => {
    const child = spawn(process.execPath, [program, 'speak', '-', '--realtime', '--voice', 'Aria'], { env });
    const exited = once(child, 'exit');
    const complaints = text(child.stderr);
    child.stdin.write('Good morning. This is one line.\n');
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    child.stdin.write('And this is another. It is there to be refused.\n');
    expect(await exited).toEqual([0, null]);
    expect(await complaints).toBe('');
  });

  test('a rejected session leaves no file, even if its text never ends', async () => {
    const { done } = start(['speak', '-', '--realtime', '--voice', 'Nobody', '-o', 'out.wav'], env);
    const { code, stderr } = await done;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^unigate: invalid_value: .*Nobody.* \[request req_\w+\]\n$/);
    expect(await readdir(folder)).toEqual([]);
  });

  test('prints one line for an error and writes no file', async () => {
    const { done } = start(['speak', 'Hi.', '--voice', 'Nobody', '-o', 'out.wav'], env);
    const { code, stderr } = await done;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^unigate: \w+ \(400\): .*Nobody.* \[request req_\w+\]\n$/);
    expect(await readdir(folder)).toEqual([]);
  });

  test('lists models', async () => {
    const { done } = start(['models'], env);
    const { code, stdout } = await done;
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/^alpha3-tts-flash +characters +multimodal$/m);
  });
});

describe('a command that is interrupted', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s leaves no file', async (signal, expected) => {
    const begun = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => void response.write('RIFF', () => begun.resolve()));
    const args = ['speak', 'Hi.', '--voice', 'v', '-o', 'out.wav'];
    const { child, done } = start(args, { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' });
    await begun.promise;
    child.kill(signal);
    expect(await done).toMatchObject({ code: expected, stderr: 'unigate: stopped.\n' });
    expect(await readdir(folder)).toEqual([]);
  });

  test('by a signal while it waits for text ends', async () => {
    const args = ['speak', '-', '--voice', 'v', '-o', 'out.wav'];
    const { child, done } = start(args, { UNIGATE_API_KEY: 'sk-test' });
    // Larger than the pipe buffer, so the write completes only when the command reads.
    const longText = 'word '.repeat(200_000);
    await new Promise<void>((resolve) => void child.stdin.write(longText, () => resolve()));
    child.kill('SIGINT');
    expect(await done).toMatchObject({ code: 130, stderr: 'unigate: stopped.\n' });
  });

  test('by a signal during a streamed text ends', async () => {
    const { url, all } = await startSocketServer();
    const args = ['speak', '-', '--realtime', '--voice', 'v', '-o', 'out.wav'];
    const { child, done } = start(args, { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' });
    await vi.waitUntil(() => all[0]?.received.length === 1, { timeout: 10_000 });
    child.kill('SIGINT');
    expect(await done).toMatchObject({ code: 130, stderr: 'unigate: stopped.\n' });
    expect(await all[0]?.closed).toBe(1000);
    expect(await readdir(folder)).toEqual([]);
  });

  test('by a signal while a task runs prints the command to resume', async () => {
    const polled = Promise.withResolvers<void>();
    const url = await startStubServer((request, response) => {
      if (request.method === 'GET') return polled.resolve();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "task_1"}');
    });
    const env = { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
    const { child, done } = start(['video', 'A boat.', '-o', 'clip.mp4'], env);
    await polled.promise;
    child.kill('SIGINT');
    const again = 'npx unigate video --resume task_1 -o clip.mp4';
    const reported = `task task_1\nunigate: stopped. Resume with: ${again}\n`;
    expect(await done).toMatchObject({ code: 130, stderr: reported });
    expect(await readdir(folder)).toEqual([]);
  });

  test('by a closed pipe ends the call without an error', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => {
      const endless = Readable.from(repeat(Buffer.alloc(65_536)));
      pipeline(endless, response).catch(() => closed.resolve());
    });
    const child = spawn(process.execPath, [program, 'speak', 'Hi.', '--voice', 'v'], {
      env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' },
    });
    const exited = once(child, 'exit');
    const complaints = text(child.stderr);
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    await closed.promise;
    expect(await exited).toEqual([0, null]);
    expect(await complaints).toBe('');
  });
});

function* repeat<T>(item: T): Generator<T> {
  for (;;) yield item;
}
