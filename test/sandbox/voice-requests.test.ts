import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PromptLoader } from '../../server/sandbox/custom-voices/prompt-audio.ts';
import { startSandbox } from '../../server/sandbox/sandbox.ts';
import { SandboxClient, useSandbox } from './sandbox-client.ts';
import { customizationPath, VoiceClient } from './voice-client.ts';
import { tone, wavFile } from './wave-forms.ts';

const client = useSandbox({ slowDelayMs: 20 });
const voices = new VoiceClient(client);

const enroll = (input: object) => ({
  model: 'voice-enrollment',
  input: {
    action: 'create_voice',
    target_model: 'voxa-v2',
    prefix: 'a1',
    url: address('/voice.wav'),
    ...input,
  },
});
const designed = (input: object, parameters?: object) => ({
  ...enroll({ url: undefined, voice_prompt: 'A man', preview_text: 'Hi.', ...input }),
  parameters,
});
const cloned = (input: object) => ({
  model: 'alpha-voice-enrollment',
  input: {
    action: 'create',
    target_model: 'alpha3-tts-vc-2026-01-22',
    preferred_name: 'a_1',
    audio: { data: dataUrl(wavFile(tone(120, 4))) },
    ...input,
  },
});
const drawn = (input: object, parameters?: object) => ({
  model: 'alpha-voice-design',
  input: {
    action: 'create',
    target_model: 'alpha3-tts-vd-2026-01-26',
    preferred_name: 'a_1',
    voice_prompt: 'A man',
    preview_text: 'Hi.',
    ...input,
  },
  parameters,
});

let files: Server;
const address = (path: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`;

function dataUrl(file: Buffer, type = 'audio/wav'): string {
  return `data:${type};base64,${file.toString('base64')}`;
}

const served: Readonly<Record<string, Buffer>> = {
  '/voice.wav': wavFile(tone(120, 4)),
  '/short.wav': wavFile(tone(120, 2.9)),
  '/silent.wav': wavFile(new Float32Array(64_000)),
  '/voice.mp3': Buffer.from('fffb9064', 'hex'),
  '/page.html': Buffer.from('<html></html>'),
  '/empty': Buffer.alloc(0),
};

beforeAll(async () => {
  files = createServer(({ url = '' }, response) => {
    const file = served[url];
    if (file) return void response.end(file);
    if (url === '/hang') return;
    if (url === '/large') return void response.end(Buffer.alloc(10 * 1024 * 1024 + 1));
    if (url === '/loop') return void response.writeHead(302, { location: '/loop' }).end();
    if (url === '/moved') return void response.writeHead(302, { location: '/voice.wav' }).end();
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    files.listen(0, '127.0.0.1', resolve);
  });
});

afterAll(async () => {
  files.closeAllConnections();
  await new Promise((resolve) => files.close(resolve));
});

async function requestError(body: object) {
  const response = await client.post(customizationPath, body);
  return { status: response.status, ...((await response.json()) as { code: string; message: string }) };
}

describe('400 InvalidParameter names the field', () => {
  test.each<[string, () => object, string]>([
    ['a model of another route', () => ({ model: 'voxa-v2', input: {} }), 'model voxa-v2 is not served'],
    ['no input', () => ({ model: 'voice-enrollment' }), 'input is required'],
    ['no action', () => ({ model: 'voice-enrollment', input: {} }), 'input.action is required'],
    [
      'an action of another service',
      () => enroll({ action: 'create' }),
      'input.action must be one of create_voice',
    ],
    [
      'a query of cloned alpha voices',
      () => cloned({ action: 'query' }),
      'input.action must be one of create, list',
    ],
    ['no target_model', () => enroll({ target_model: undefined }), 'input.target_model is required'],
    [
      'a target of another service',
      () => enroll({ target_model: 'alpha3-tts-flash' }),
      'input.target_model alpha3',
    ],
    [
      'a target for designs',
      () => cloned({ target_model: 'alpha3-tts-vd-2026-01-26' }),
      'input.target_model',
    ],
    ['a target for clones', () => drawn({ target_model: 'alpha3-tts-vc-2026-01-22' }), 'input.target_model'],
    ['prefix', () => enroll({ prefix: 'with_under' }), 'input.prefix must be 1 to 10 letters'],
    ['preferred_name', () => cloned({ preferred_name: 'a-b' }), 'input.preferred_name must be 1 to 16'],
    ['neither url nor voice_prompt', () => enroll({ url: undefined }), 'input.url is required'],
    ['both', () => designed({ url: address('/voice.wav') }), 'are mutually exclusive'],
    ['language_hints', () => enroll({ language_hints: [1] }), 'input.language_hints'],
    ['language', () => drawn({ language: 'xx' }), 'input.language must be one of zh, en'],
    [
      'max_prompt_audio_length',
      () => enroll({ max_prompt_audio_length: 2 }),
      'must be a number from 3 to 30',
    ],
    ['enable_preprocess', () => enroll({ enable_preprocess: 1 }), 'input.enable_preprocess'],
    ['a long voice_prompt', () => designed({ voice_prompt: 'a'.repeat(501) }), '500 characters'],
    ['a long preview_text', () => designed({ preview_text: 'a'.repeat(201) }), '200 characters'],
    ['a long alpha voice_prompt', () => drawn({ voice_prompt: 'a'.repeat(2049) }), '2048 characters'],
    ['a long alpha preview_text', () => drawn({ preview_text: 'a'.repeat(1025) }), '1024 characters'],
    ['no preview_text', () => designed({ preview_text: undefined }), 'input.preview_text is required'],
    ['sample_rate', () => designed({}, { sample_rate: 8000 }), 'parameters.sample_rate must be one of 16000'],
    [
      'response_format',
      () => designed({}, { response_format: 'opus' }),
      'parameters.response_format must be',
    ],
    [
      'alpha response_format',
      () => drawn({}, { response_format: 'flac' }),
      'parameters.response_format must be',
    ],
    ['page_size', () => enroll({ action: 'list_voice', page_size: 1001 }), 'input.page_size'],
    ['page_index', () => drawn({ action: 'list', page_index: -1 }), 'input.page_index'],
    ['no audio', () => cloned({ audio: undefined }), 'input.audio is required'],
    ['no voice_id', () => enroll({ action: 'query_voice' }), 'input.voice_id is required'],
  ])('%s', async (_case, body, message) => {
    const refused = await requestError(body());
    expect(refused).toMatchObject({ status: 400, code: 'InvalidParameter' });
    expect(refused.message).toContain(message);
  });
});

describe('a recording that cannot be used', () => {
  test.each([
    ['/none.wav', 'answered with status 404'],
    ['/voice.mp3', 'is MP3; only WAV'],
    ['/page.html', 'is not an audio file'],
    ['/empty', 'is empty'],
    ['/short.wav', 'is 2.9 seconds long; at least 3 seconds'],
    ['/silent.wav', 'no voice was detected'],
    ['/large', 'is larger than 10485760 bytes'],
    ['/loop', 'redirects more than 3 times'],
  ])('%s', async (path, message) => {
    const refused = await requestError(enroll({ url: address(path) }));
    expect(refused).toMatchObject({ status: 400, code: 'InvalidParameter' });
    expect(refused.message).toContain('input.url');
    expect(refused.message).toContain(message);
  });

  test.each([
    ['no URL', 'voice.wav', 'must have an http, https or data URL'],
    ['another scheme', 'file:///etc/passwd', 'must have an http, https or data URL'],
    ['no Base64', 'data:audio/wav,RIFF', 'must be a Base64 data URL of audio'],
    ['no audio', dataUrl(Buffer.from('x'), 'text/plain'), 'must be a Base64 data URL of audio'],
    ['MP4', dataUrl(Buffer.from('....ftypM4A ....'), 'audio/mp4'), 'is MP4; only WAV'],
    ['an unreachable host', 'http://127.0.0.1:1/', 'could not be downloaded'],
  ])('%s', async (_case, data, message) => {
    const refused = await requestError(cloned({ audio: { data } }));
    expect(refused).toMatchObject({ status: 400, code: 'InvalidParameter' });
    expect(refused.message).toContain('input.audio.data: the recording');
    expect(refused.message).toContain(message);
  });

  test('a download that times out', async () => {
    const loader = new PromptLoader({ allowPrivateUrls: true, timeoutMs: 20 });
    const limits = { field: 'url', maxBytes: 100, signal: new AbortController().signal };
    await expect(loader.load(address('/hang'), limits)).rejects.toThrow('did not arrive within 0.02 seconds');
    await loader.close();
  });

  test('a redirect to a valid recording is followed', async () => {
    expect((await voices.act('voice-enrollment', enroll({ url: address('/moved') }).input)).usage.count).toBe(
      1,
    );
  });

  test('a private address, if not allowed', async () => {
    const guarded = new SandboxClient();
    guarded.sandbox = await startSandbox({ key: 'k', allowPrivateUrls: false });
    const { port } = files.address() as AddressInfo;
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:10.0.0.1]', '169.254.1.1', '0x7f.1']) {
      const response = await guarded.post(
        customizationPath,
        enroll({ url: `http://${host}:${port}/voice.wav` }),
      );
      const { message } = (await response.json()) as { message: string };
      expect([response.status, message], host).toEqual([
        400,
        expect.stringContaining('is not a public address'),
      ]);
    }
    const { model, input } = cloned({});
    expect((await guarded.post(customizationPath, { model, input })).status).toBe(200);
    await guarded.sandbox.close();
  });
});

describe('triggers', () => {
  test.each([
    ['reject', 400, 'DataInspectionFailed'],
    ['unauthorized', 401, 'InvalidApiKey'],
    ['denied', 403, 'AccessDenied'],
    ['throttle', 429, 'Throttling.RateQuota'],
    ['error', 500, 'InternalError'],
    ['unavailable', 503, 'ModelUnavailable'],
  ])('[[%s]] is %i %s', async (name, status, code) => {
    const bodies = [
      enroll({ url: `${address('/voice.wav')}?%5B%5B${name}%5D%5D` }),
      designed({ voice_prompt: `A man [[${name}]]` }),
      drawn({ preview_text: `[[${name}]]` }),
      cloned({ text: `[[${name}]]` }),
    ];
    for (const body of bodies) expect(await requestError(body)).toMatchObject({ status, code });
  });

  test('[[malformed]], [[drop]] and [[slow]]', async () => {
    const malformed = await client.post(customizationPath, designed({ voice_prompt: '[[malformed]]' }));
    expect(malformed.status).toBe(200);
    await expect(malformed.json()).rejects.toThrow(SyntaxError);
    await expect(client.post(customizationPath, designed({ voice_prompt: '[[drop]]' }))).rejects.toThrow();
    expect((await client.post(customizationPath, designed({ voice_prompt: '[[slow]]' }))).status).toBe(200);
  });
});

test('an unknown service, no key, and a body above 16 MiB', async () => {
  expect(await requestError({ model: 'nothing', input: {} })).toMatchObject({
    status: 404,
    code: 'ModelNotFound',
  });
  const keyless = await client.post(customizationPath, enroll({}), { key: 'wrong' });
  expect(keyless.status).toBe(401);
  expect(await requestError({ model: 'a'.repeat(16 * 1024 * 1024) })).toMatchObject({ status: 413 });
});
