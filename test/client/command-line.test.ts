import { execFile } from 'node:child_process';
import { constants, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

const errorBody = { error: { code: 'invalid_request', message: 'voice:\nnot known.', request_id: 'req_1' } };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-cli-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A gateway that returns the given audio and records the requests. */
async function startSpeechServer(audio = 'RIFF and more') {
  const requests: Record<string, unknown>[] = [];
  const url = await startStubServer(async (request, response) => {
    requests.push(JSON.parse(Buffer.concat(await request.toArray()).toString()) as Record<string, unknown>);
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(audio);
  });
  return { requests, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

async function startErrorServer(body: object, status: number) {
  const url = await startStubServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-secret' };
}

describe('an invalid command line', () => {
  test.each([
    [[], 'A command is missing.'],
    [['sing'], "Unknown command 'sing'. Commands: speak, "],
    [['speak', '--voice', 'Aria'], "Missing required argument 'text'."],
    [['speak', 'two', 'texts'], "Too many arguments for 'speak'. Expected 1 argument but got 2."],
    [['speak', 'hi', '-o', 'a.wav'], '--voice is required; unigate voices lists all voices.'],
    [
      ['speak', 'hi', '--voice', 'v', '--format', 'aac'],
      '--format must be one of wav, mp3, pcm, opus, flac.',
    ],
    [['speak', 'hi', '--voice', 'v', '--speed', 'fast'], '--speed must be a number.'],
    [['speak', 'hi', '--voice', 'v', '--sample-rate', ''], '--sample-rate must be a number.'],
    [['speak', ' ', '--voice', 'v'], 'The text is empty.'],
    [['speak', '-', '--voice', 'v'], 'The text is empty.'],
    [['models', 'all'], "Too many arguments for 'models'. Expected 0 arguments but got 1."],
    [['models', '--voice', 'v'], "Unknown option '--voice'."],
    [['speak', 'hi', '--loud'], "Unknown option '--loud'."],
    [['speak', 'hi', '-x'], "Unknown option '-x'; write a text that starts with a dash after --."],
    [['speak', 'hi', '--out', 'a.wav'], "Unknown option '--out'. Did you mean --output?"],
    [['speak', 'hi', '-o'], "Option '-o, --output <file>' argument missing."],
    [['speak', 'hi', '--constructor'], "Unknown option '--constructor'."],
    [['speak', 'hi', '--voice'], "Option '--voice <voice>' argument missing."],
    [['speak', 'hi', '--quiet=no'], '--quiet accepts no value.'],
    [['video', 'hi', '--seconds', '-1'], 'write a value that starts with a dash as --seconds=-1.'],
    [['speak', 'hi', '--voice', '--stream'], '--voice requires a value; '],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args, { env: { UNIGATE_API_KEY: 'sk-test' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^unigate: .*[.?] See unigate --help\.\n$/);
    expect(stderr).toContain(message);
    expect(stdout).toHaveLength(0);
  });

  test('is reported without the key', async () => {
    const { code, stderr } = await runCommand(['models', '--key', '-sk-secret']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('as --key=KEY.') });
    expect(stderr).not.toContain('secret');
  });

  test('is rejected without a key', async () => {
    expect(await runCommand(['models'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('UNIGATE_API_KEY'),
    });
  });

  test('is rejected if it would write audio to a terminal', async () => {
    const { code, stderr } = await runCommand(['speak', 'hi', '--voice', 'v'], {
      env: { UNIGATE_API_KEY: 'sk-test' },
      isTTY: true,
    });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-o FILE is required'),
    });
  });
});

describe('speak', () => {
  test('sends the given options and omits the others', async () => {
    const { requests, env } = await startSpeechServer();
    await runCommand(['speak', 'Hi.', '--voice', 'Aria'], { env });
    const all = '--model m --format mp3 --instructions Slowly. --speed 0 --sample-rate 8000 --stream'.split(
      ' ',
    );
    await runCommand(['speak', 'Hi.', '--voice', 'Aria', ...all], { env });
    expect(requests).toEqual([
      { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hi.' },
      {
        model: 'm',
        voice: 'Aria',
        input: 'Hi.',
        response_format: 'mp3',
        instructions: 'Slowly.',
        speed: 0,
        stream: true,
        extra_body: { input: { sample_rate: 8_000 } },
      },
    ]);
  });

  test('uses the format of the extension, or --format if given', async () => {
    const { requests, env } = await startSpeechServer();
    for (const name of ['a.wav', 'a.MP3', 'a.pcm', 'a.raw', 'a.ogg', 'a.opus', 'a.flac', 'a.bin']) {
      await runCommand(['speak', 'Hi.', '--voice', 'v', '-o', join(folder, name)], { env });
    }
    await runCommand(['speak', 'Hi.', '--voice', 'v', '-o', join(folder, 'a.wav'), '--format', 'pcm'], {
      env,
    });
    const formats = requests.map(({ response_format }) => response_format);
    expect(formats).toEqual(['wav', 'mp3', 'pcm', 'pcm', 'opus', 'opus', 'flac', undefined, 'pcm']);
  });

  test('reads the text from standard input', async () => {
    const { requests, env } = await startSpeechServer();
    await runCommand(['speak', '-', '--voice', 'v', '-o', '-'], { env, stdin: 'Erste Zeile.\nZweite.\n' });
    expect(requests[0]?.input).toBe('Erste Zeile.\nZweite.\n');
  });

  test('writes only the audio on standard output', async () => {
    const { env } = await startSpeechServer();
    const { code, stdout, stderr } = await runCommand(['speak', 'Hi.', '--voice', 'v'], { env });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: 'RIFF and more',
      stderr: '',
    });
  });

  test('shows the bytes on a terminal, except with --quiet', async () => {
    const { env } = await startSpeechServer('x'.repeat(2_500));
    const path = join(folder, 'a.wav');
    const loud = await runCommand(['speak', 'Hi.', '--voice', 'v', '-o', path], { env, isTTY: true });
    expect(loud.stderr).toContain('2.5 kB received');
    expect(loud.stderr.endsWith(`\r\x1b[K${path}: 2.5 kB\n`)).toBe(true);
    const quiet = await runCommand(['speak', 'Hi.', '--voice', 'v', '-o', path, '-q'], { env, isTTY: true });
    expect(quiet).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a format that the model does not support', () => {
  const voices = [{ id: 'voxanna' }];
  const models = [
    { id: 'alpha3-tts-flash', protocols: ['multimodal'], voices: [{ id: 'Aria' }] },
    { id: 'voxa-v1', protocols: ['inference'], voices },
    { id: 'voxa-v2', protocols: ['synthesizer', 'inference'], voices },
    { id: 'voxa-v3-flash', protocols: ['synthesizer', 'inference'], voices },
    { id: 'beta/speech-2.8-hd', protocols: ['multimodal'], voices: [{ id: 'beta_male_deep' }] },
  ];
  const wrongFormat = 'response_format: must be one of wav for alpha3-tts-flash without streaming.';

  async function startFormatRejector(message: string, listed: object[] | undefined) {
    const url = await startStubServer((request, response) => {
      const list = request.url === '/v1/models' && listed;
      const body = list ? { data: list } : { error: { code: 'invalid_request', message } };
      response.writeHead(list ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    return { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
  }

  test.each([
    ['a.mp3', models, ' voxa-v3-flash supports mp3: --model voxa-v3-flash --voice voxanna'],
    ['a.opus', models.slice(0, 3), ' voxa-v2 supports opus: --model voxa-v2 --voice voxanna'],
    [
      'a.flac',
      models,
      ' beta/speech-2.8-hd supports flac: --model beta/speech-2.8-hd --voice beta_male_deep',
    ],
    ['a.mp3', models.slice(0, 2), ''],
    ['a.mp3', undefined, ''],
  ])('%s: names a model that supports it', async (name, listed, advice) => {
    const env = await startFormatRejector(wrongFormat, listed);
    const args = ['speak', 'Hi.', '--voice', 'Aria', '-o', join(folder, name)];
    const { code, stderr } = await runCommand(args, { env });
    const line = `unigate: invalid_request (400): ${wrongFormat}${advice}\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: line });
  });

  test('adds no hint to other errors', async () => {
    const env = await startFormatRejector('voice: not known.', models);
    const args = ['speak', 'Hi.', '--voice', 'Aria', '-o', join(folder, 'a.mp3')];
    expect((await runCommand(args, { env })).stderr).toBe(
      'unigate: invalid_request (400): voice: not known.\n',
    );
  });
});

describe('the file', () => {
  const args = (path: string) => ['speak', 'Hi.', '--voice', 'v', '-o', path];

  test('replaces an existing file, also behind a link', async () => {
    const { env } = await startSpeechServer();
    await writeFile(join(folder, 'real.wav'), 'old and longer than the new one');
    await symlink('real.wav', join(folder, 'link.wav'));
    expect(await runCommand(args(join(folder, 'link.wav')), { env })).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'real.wav'), 'utf8')).toBe('RIFF and more');
    expect((await readdir(folder)).sort()).toEqual(['link.wav', 'real.wav']);
  });

  test('stays unchanged when the gateway returns an error', async () => {
    await writeFile(join(folder, 'a.wav'), 'old');
    const env = await startErrorServer(errorBody, 400);
    expect(await runCommand(args(join(folder, 'a.wav')), { env })).toMatchObject({ code: 1 });
    expect(await readFile(join(folder, 'a.wav'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['a.wav']);
  });

  test('does not appear when the audio breaks off', async () => {
    const url = await startStubServer((request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('RIFF', () => request.socket.destroy());
    });
    const env = { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
    const { code, stderr } = await runCommand(args(join(folder, 'a.wav')), { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^unigate: The connection to \S+ failed: .*\n$/);
    expect(await readdir(folder)).toEqual([]);
  });

  test('does not appear without audio', async () => {
    const { env } = await startSpeechServer('');
    const { code, stderr } = await runCommand(args(join(folder, 'a.wav')), { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'unigate: The gateway sent no audio.\n' });
    expect(await readdir(folder)).toEqual([]);
  });

  test('cannot be written: sends no request', async () => {
    const { requests, env } = await startSpeechServer();
    for (const path of [join(folder, 'no', 'a.wav'), folder]) {
      expect(await runCommand(args(path), { env })).toMatchObject({ code: 1 });
    }
    expect(requests).toEqual([]);
  });

  test('may be a pipe, which is not replaced', async () => {
    const path = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [path]);
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { env } = await startSpeechServer();
    expect(await runCommand(args(path), { env })).toMatchObject({ code: 0 });
    const { buffer, bytesRead } = await reader.read(Buffer.alloc(100));
    await reader.close();
    expect(buffer.toString('utf8', 0, bytesRead)).toBe('RIFF and more');
    expect((await stat(path)).isFIFO()).toBe(true);
  });
});

describe('models and voices', () => {
  const voice = { id: 'Aria', gender: 'female', languages: ['en', 'zh'] };
  const models = [
    { id: 'alpha3-tts-flash', unit: 'characters', protocols: ['multimodal'], voices: [voice, { id: 'Bo' }] },
    { id: 'sigma_music', unit: 'tracks', protocols: ['sigma'] },
  ];

  test.each([
    [['models'], 'alpha3-tts-flash  characters  multimodal\nsigma_music       tracks      sigma\n'],
    [['voices'], 'alpha3-tts-flash  Aria  female  en,zh\nalpha3-tts-flash  Bo\n'],
    [['voices', '--model', 'sigma_music'], ''],
  ])('%j', async (args, table) => {
    const env = await startErrorServer({ object: 'list', data: models }, 200);
    const { code, stdout } = await runCommand(args, { env });
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: table });
  });

  test('are printed as JSON', async () => {
    const env = await startErrorServer({ object: 'list', data: models }, 200);
    const list = await runCommand(['models', '--json'], { env });
    expect(JSON.parse(list.stdout.toString())).toEqual(models);
    const voices = await runCommand(['voices', '--json'], { env });
    expect(JSON.parse(voices.stdout.toString())).toMatchObject([
      { model: 'alpha3-tts-flash', ...voice },
      { id: 'Bo' },
    ]);
  });

  test('fails for an unknown model', async () => {
    const env = await startErrorServer({ object: 'list', data: models }, 200);
    const { code, stderr } = await runCommand(['voices', '--model', 'm'], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'unigate: The key has no access to a model m.\n' });
  });
});

describe('errors', () => {
  test('are one line with code, status, message and request id', async () => {
    const env = await startErrorServer(errorBody, 400);
    const { code, stderr } = await runCommand(['models'], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'unigate: invalid_request (400): voice: not known. [request req_1]\n',
    });
  });

  test('contain no control characters', async () => {
    const env = await startErrorServer({ error: { code: 'no', message: 'Gone\x1b[2J\u009b\x07.' } }, 400);
    expect((await runCommand(['models'], { env })).stderr).toBe('unigate: no (400): Gone[2J.\n');
  });

  test('never contain the key', async () => {
    const echo = {
      error: { code: 'invalid_api_key', message: 'No key sk-secret or sk-other.', request_id: 'r' },
    };
    const env = await startErrorServer(echo, 401);
    expect((await runCommand(['models'], { env })).stderr).toContain('No key *** or sk-other.');
    expect((await runCommand(['models', '--key', 'sk-other'], { env })).stderr).not.toContain('sk-other');
    const bad = await runCommand(['models', '--key', 'sk-öther'], { env });
    expect(bad).toMatchObject({ code: 1, stderr: expect.not.stringContaining('sk-öther') });
  });

  test('report an unreachable gateway', async () => {
    const env = { UNIGATE_API_KEY: 'sk-test' };
    const { code, stderr } = await runCommand(['models', '--base-url', 'nowhere'], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'unigate: baseUrl must be an http or https URL, not nowhere\n',
    });
  });
});

test('--help and --version require no key', async () => {
  for (const args of [['--help'], ['help'], ['speak', '-h']]) {
    expect(await runCommand(args)).toMatchObject({ code: 0, stderr: '' });
  }
  expect((await runCommand(['--help'])).stdout.toString()).toMatch(
    /^Usage: unigate .*\n\nCreates speech, videos, music, images and 3D models through a Unigate gateway\.\n/,
  );
  expect((await runCommand(['-V'])).stdout.toString()).toBe('1.2.3\n');
});
