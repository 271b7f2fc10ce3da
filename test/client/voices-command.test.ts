import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-voices-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Asked {
  model: string;
  input: Record<string, unknown> & { action: string; preferred_name?: string; prefix?: string };
  parameters?: object;
}

const preview = { data: Buffer.from('RIFF').toString('base64'), sample_rate: 24_000, response_format: 'wav' };
const created = (name: string) => ({
  alpha: { voice: `alpha-${name}`, target_model: 'm', preview_audio: preview },
  voxa: { voice_id: `voxa-v2-${name}-8f3a`, preview_audio: preview },
});

/** The three voice services. Services in `refused` fail with the given status. */
async function startVoiceServices(
  lists: Record<string, object[]> = {},
  states: string[] = ['OK'],
  refused: Record<string, number> = {},
) {
  const requests: Asked[] = [];
  const left = [...states];
  const url = await startStubServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Asked;
    requests.push(body);
    const { model, input } = body;
    const answer = (): object => {
      if (input.action === 'create') return created(input.preferred_name ?? '').alpha;
      if (input.action === 'create_voice') return created(input.prefix ?? '').voxa;
      if (input.action === 'query_voice') return { status: left.length > 1 ? left.shift() : left[0] };
      if (!input.action.startsWith('list')) return {};
      const [page, size] = [Number(input.page_index), Number(input.page_size)];
      return { voice_list: (lists[model] ?? []).slice(page * size, (page + 1) * size) };
    };
    const status = refused[model] ?? 200;
    const said = status === 200 ? { request_id: 'r', output: answer(), usage: { count: 0 } } : { code: 'no' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  });
  return { requests, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

const alpha = (voice: string, target_model = 'alpha3-tts-vc-2026-01-22') => ({
  voice,
  target_model,
  gmt_create: '2026-02-01 09:30:00',
});
const voxa = (voice_id: string, status = 'OK') => ({ voice_id, status, gmt_create: '2026-02-01 09:30:00' });

describe('an invalid command line', () => {
  test.each([
    [['voices', 'sing'], "Unknown command 'sing'. Commands: clone, design, list, delete."],
    [['voices', 'clone'], "Missing required argument 'recording'."],
    [['voices', 'clone', 'a.wav', 'b.wav'], "Too many arguments for 'clone'. Expected 1 argument but got 2."],
    [
      ['voices', 'clone', 'me.txt'],
      'recording must be a URL, or a file that ends in .wav, .mp3, .m4a, .mp4.',
    ],
    [
      ['voices', 'clone', 'me.wav', '--model', 'voxa-v2'],
      'voxa-v2 clones only from a URL; for a file use --model alpha3-tts-vc-2026-01-22.',
    ],
    [['voices', 'design'], "Missing required argument 'description'."],
    [['voices', 'design', 'Low.', '-o', 'a.flac'], 'the extension of a.flac must be one of wav, mp3, pcm.'],
    [['voices', 'delete'], "Missing required argument 'voice'."],
    [['voices', 'list', 'all'], "Too many arguments for 'list'. Expected 0 arguments but got 1."],
  ])('%j', async (args, message) => {
    const { requests, env } = await startVoiceServices();
    const { code, stderr } = await runCommand(args, { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(requests).toEqual([]);
  });

  test('reports a missing recording', async () => {
    const { requests, env } = await startVoiceServices();
    const { code, stderr } = await runCommand(['voices', 'clone', join(folder, 'me.wav')], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/me\.wav: the file or its folder does not exist \(ENOENT\)\.\n$/),
    });
    expect(requests).toEqual([]);
  });
});

describe('clone', () => {
  test.each([
    ['me.wav', 'audio/wav', 'me'],
    ['My Voice, take 2 (final).MP3', 'audio/mpeg', 'MyVoicetake2fina'],
    ['声.m4a', 'audio/mp4', 'voice'],
  ])('accepts the file %s', async (name, type, part) => {
    const { requests, env } = await startVoiceServices();
    await writeFile(join(folder, name), 'sound');
    const { code, stdout, stderr } = await runCommand(['voices', 'clone', join(folder, name)], { env });
    expect(requests).toEqual([
      {
        model: 'alpha-voice-enrollment',
        input: {
          action: 'create',
          target_model: 'alpha3-tts-vc-2026-01-22',
          preferred_name: part,
          language: 'en',
          audio: { data: `data:${type};base64,${Buffer.from('sound').toString('base64')}` },
        },
      },
    ]);
    const id = `alpha-${part}`;
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: `${id}\n`,
      stderr: `voice ${id}\n`,
    });
  });

  test('sends the given options', async () => {
    const { requests, env } = await startVoiceServices();
    const reported =
      '--name n_1 --language fr --text Bonjour. --model alpha3-tts-vc-realtime-2026-01-15'.split(' ');
    const url = 'https://files.example/a/me.ogg?x=1';
    expect(await runCommand(['voices', 'clone', url, ...reported], { env })).toMatchObject({ code: 0 });
    expect(requests[0]?.input).toEqual({
      action: 'create',
      target_model: 'alpha3-tts-vc-realtime-2026-01-15',
      preferred_name: 'n_1',
      language: 'fr',
      audio: { data: url },
      text: 'Bonjour.',
    });
  });

  test('waits for a voxa voice after printing its id', async () => {
    const { requests, env } = await startVoiceServices({}, ['DEPLOYING', 'OK']);
    const url = 'https://files.example/my%20long-recording.wav';
    const args = ['voices', 'clone', url, '--model', 'voxa-v2'];
    const { code, stdout, stderr } = await runCommand(args, { env });
    const id = 'voxa-v2-my20longre-8f3a';
    expect(requests[0]).toEqual({
      model: 'voice-enrollment',
      input: {
        action: 'create_voice',
        target_model: 'voxa-v2',
        prefix: 'my20longre',
        language_hints: ['en'],
        url,
      },
    });
    expect(requests.slice(1).map(({ input }) => input)).toEqual([
      { action: 'query_voice', voice_id: id },
      { action: 'query_voice', voice_id: id },
    ]);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: `${id}\n`,
      stderr: `voice ${id}\n`,
    });
  });

  test('shows the wait on a terminal', async () => {
    const { env } = await startVoiceServices({}, ['DEPLOYING', 'OK']);
    const args = ['voices', 'clone', 'https://files.example/me.wav', '--model', 'voxa-v2'];
    const { stderr } = await runCommand(args, { env, isTTY: true });
    const lines = new Set(stderr.split('\r\x1b[K').map((line) => line.replace(/ \d+ s$/, ' … s')));
    expect([...lines]).toEqual([
      '',
      'waiting for the voice … s',
      'voice voxa-v2-me-8f3a\n',
      'DEPLOYING … s',
      'OK … s',
    ]);
  });

  test('fails with the id when the voice is rejected', async () => {
    const { env } = await startVoiceServices({}, ['UNDEPLOYED']);
    const args = ['voices', 'clone', 'https://files.example/me.wav', '--model', 'voxa-v2'];
    const { code, stdout, stderr } = await runCommand(args, { env });
    const id = 'voxa-v2-me-8f3a';
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `voice ${id}\nunigate: UNDEPLOYED: The voice was rejected. [${id}]\n`,
    });
  });

  test('is not retried, because a retry could create a second voice', async () => {
    const { requests, env } = await startVoiceServices({}, [], { 'alpha-voice-enrollment': 503 });
    const args = ['voices', 'clone', 'https://files.example/me.wav'];
    expect(await runCommand(args, { env })).toMatchObject({ code: 1 });
    expect(requests).toHaveLength(1);
  });
});

describe('design', () => {
  test('writes the preview to a file in the format of its extension', async () => {
    const { requests, env } = await startVoiceServices();
    const path = join(folder, 'a.mp3');
    const args = ['voices', 'design', 'A low voice.', '--name', 'low', '--text', 'Hello.', '-o', path];
    const { code, stdout, stderr } = await runCommand(args, { env });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: 'alpha-low\n',
      stderr: 'voice alpha-low\n',
    });
    expect(await readFile(path, 'utf8')).toBe('RIFF');
    expect(requests).toEqual([
      {
        model: 'alpha-voice-design',
        input: {
          action: 'create',
          target_model: 'alpha3-tts-vd-2026-01-26',
          preferred_name: 'low',
          language: 'en',
          voice_prompt: 'A low voice.',
          preview_text: 'Hello.',
        },
        parameters: { response_format: 'mp3' },
      },
    ]);
  });

  test('requires no file, and can write the preview to standard output', async () => {
    const { requests, env } = await startVoiceServices();
    const plain = await runCommand(['voices', 'design', 'Low.', '--model', 'voxa-v2'], { env });
    expect({ ...plain, stdout: plain.stdout.toString() }).toEqual({
      code: 0,
      stdout: 'voxa-v2-voice-8f3a\n',
      stderr: 'voice voxa-v2-voice-8f3a\n',
    });
    expect(requests[0]).toMatchObject({
      model: 'voice-enrollment',
      input: { voice_prompt: 'Low.', prefix: 'voice' },
    });
    const piped = await runCommand(['voices', 'design', 'Low.', '-o', '-'], { env });
    expect({ ...piped, stdout: piped.stdout.toString() }).toEqual({
      code: 0,
      stdout: 'RIFF',
      stderr: 'voice alpha-voice\n',
    });
  });

  test('creates no voice when the file cannot be written', async () => {
    const { requests, env } = await startVoiceServices();
    const args = ['voices', 'design', 'Low.', '-o', join(folder, 'no', 'a.wav')];
    expect(await runCommand(args, { env })).toMatchObject({ code: 1 });
    expect(requests).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('list and delete', () => {
  const lists = {
    'voice-enrollment': [
      voxa('voxa-v3.5-plus-vd-guide-2b9d'),
      voxa('voxa-v2-me-8f3a', 'DEPLOYING'),
      voxa('odd'),
    ],
    'alpha-voice-enrollment': [alpha('alpha-1')],
    'alpha-voice-design': [alpha('alpha-2', 'alpha3-tts-vd-2026-01-26')],
  };

  test('shows the voices of all services', async () => {
    const { env } = await startVoiceServices(lists);
    const { code, stdout } = await runCommand(['voices', 'list'], { env });
    const at = '2026-02-01 09:30:00';
    expect(code).toBe(0);
    expect(stdout.toString().split('\n')).toEqual([
      `voxa-v3.5-plus-vd-guide-2b9d  voxa-v3.5-plus            OK         ${at}`,
      `voxa-v2-me-8f3a               voxa-v2                   DEPLOYING  ${at}`,
      `odd                                                     OK         ${at}`,
      `alpha-1                       alpha3-tts-vc-2026-01-22  OK         ${at}`,
      `alpha-2                       alpha3-tts-vd-2026-01-26  OK         ${at}`,
      '',
    ]);
  });

  test('shows the voices of one model as JSON', async () => {
    const { env } = await startVoiceServices(lists);
    const { stdout } = await runCommand(['voices', 'list', '--model', 'voxa-v2', '--json'], { env });
    expect(JSON.parse(stdout.toString())).toMatchObject([
      { id: 'voxa-v2-me-8f3a', service: 'voice-enrollment' },
    ]);
  });

  test('reads all pages', async () => {
    const many = Array.from({ length: 230 }, (_, index) => alpha(`alpha-${index}`));
    const { env } = await startVoiceServices({ 'alpha-voice-design': many });
    const { stdout } = await runCommand(['voices', 'list', '--json'], { env });
    expect(JSON.parse(stdout.toString())).toHaveLength(230);
  });

  test('reads a repeated page only once', async () => {
    const url = await startStubServer((_, response) => {
      const output = { voice_list: Array.from({ length: 100 }, (_voice, index) => alpha(`alpha-${index}`)) };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ output }));
    });
    const env = { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' };
    const { stdout } = await runCommand(['voices', 'list', '--json'], { env });
    expect(JSON.parse(stdout.toString())).toHaveLength(3 * 100);
  });

  test('skips services that the key cannot access, and fails for other reasons', async () => {
    const closed = { 'voice-enrollment': 403, 'alpha-voice-enrollment': 404 };
    const { env } = await startVoiceServices(lists, [], closed);
    const { code, stdout } = await runCommand(['voices', 'list'], { env });
    expect({ code, stdout: stdout.toString() }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^alpha-2 .*\n$/),
    });
    const broken = await startVoiceServices(lists, [], { 'alpha-voice-enrollment': 400 });
    expect(await runCommand(['voices', 'list'], { env: broken.env })).toMatchObject({ code: 1 });
  });

  test.each([
    ['voxa-v2-me-8f3a', 'voice-enrollment', { action: 'delete_voice', voice_id: 'voxa-v2-me-8f3a' }],
    ['alpha-2', 'alpha-voice-design', { action: 'delete', voice: 'alpha-2' }],
  ])('deletes %s at its service', async (id, model, input) => {
    const { requests, env } = await startVoiceServices(lists);
    expect(await runCommand(['voices', 'delete', id], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(requests.at(-1)).toEqual({ model, input });
  });

  test('fails to delete an unknown voice', async () => {
    const { requests, env } = await startVoiceServices(lists);
    const { code, stderr } = await runCommand(['voices', 'delete', 'alpha-3'], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'unigate: There is no voice alpha-3.\n' });
    expect(requests.every(({ input }) => input.action.startsWith('list'))).toBe(true);
  });
});
