import { beforeEach, describe, expect, test } from 'vitest';
import { fundamental, inspectMp3, inspectWav, level } from './audio-inspection.ts';
import { InferenceClient } from './inference-client.ts';
import { RealtimeClient } from './realtime-client.ts';
import { multimodalPath, synthesizerPath, useSandbox } from './sandbox-client.ts';
import { VoiceClient } from './voice-client.ts';

const start = Date.UTC(2026, 1, 1, 9, 30);
let now = start;
const client = useSandbox({ now: () => now, voiceDeploymentMs: 5000 });
const voices = new VoiceClient(client);

beforeEach(() => {
  now = start;
});
const vcModel = 'alpha3-tts-vc-2026-01-22';
const vcRealtime = 'alpha3-tts-vc-realtime-2026-01-15';

const enroll = (input: object) => voices.act('voice-enrollment', input);
const clone = async (url: string, more: object = {}) =>
  (
    await enroll({
      action: 'create_voice',
      target_model: 'voxa-v3.5-flash',
      prefix: 'narrator',
      url,
      ...more,
    })
  ).output.voice_id;
const query = (voice_id: string) => enroll({ action: 'query_voice', voice_id });

function wav(data: Buffer): string {
  return `data:audio/wav;base64,${data.toString('base64')}`;
}

describe('voice-enrollment', () => {
  test('a voice is DEPLOYING, then OK and usable in both protocols, with the pitch of its recording', async () => {
    const [low, high] = await Promise.all([
      voices.record('voxton', { pitch: 0.8 }),
      voices.record('voxling', { pitch: 1.1 }),
    ]);
    const ids = await Promise.all([low, high].map((url) => clone(url, { target_model: 'voxa-v3-plus' })));
    const [first = ''] = ids;
    expect(first).toMatch(/^voxa-v3-plus-narrator-[0-9a-f]+$/);
    expect((await query(first)).output).toEqual({
      gmt_create: '2026-02-01 09:30:00',
      gmt_modified: '2026-02-01 09:30:00',
      status: 'DEPLOYING',
      target_model: 'voxa-v3-plus',
      resource_link: low,
    });
    const early = await voices.synthesisError(synthesizerPath, 'voxa-v3-plus', first);
    expect(early).toEqual({ status: 400, message: `input.voice ${first} has status DEPLOYING` });

    now += 5000;
    const ready = await query(first);
    expect(ready.output).toMatchObject({ gmt_modified: '2026-02-01 09:30:05', status: 'OK' });
    expect(ready.usage).toEqual({ count: 0 });

    const measured = await Promise.all(
      [low, high].map(async (url, index) => {
        const recording = inspectWav(Buffer.from(await (await fetch(url)).arrayBuffer()));
        const [spoken, streamed] = await Promise.all([
          voices.synthesize('voxa-v3-plus', ids[index] ?? ''),
          voices.duplex('voxa-v3-plus', ids[index] ?? ''),
        ]);
        const [pitch, ...copies] = [recording, spoken, streamed].map(fundamental);
        for (const copy of copies) expect(Math.abs(Math.log2(copy / (pitch ?? 1)))).toBeLessThan(0.12);
        for (const { samples } of [spoken, streamed]) expect(level(samples)).toBeGreaterThan(0.02);
        return pitch ?? 0;
      }),
    );
    expect((measured[1] ?? 0) / (measured[0] ?? 1)).toBeGreaterThan(1.8);
  });

  test('a voice has the level of its recording, unless normalization is requested', async () => {
    const urls = await Promise.all([voices.record('voxton'), voices.record('voxton', { volume: 15 })]);
    const ids = await Promise.all(urls.map((url) => clone(url)));
    const evened = await clone(urls[1] ?? '', { enable_preprocess: true });
    now += 5000;
    const [plain = 0, quiet = 0, even = 0] = await Promise.all(
      [...ids, evened].map(async (id) => level((await voices.synthesize('voxa-v3.5-flash', id)).samples)),
    );
    expect(quiet / plain).toBeLessThan(0.75);
    expect(quiet / even).toBeLessThan(0.75);
  });

  test('only the target model accepts the voice', async () => {
    const id = await clone(await voices.record('voxhai'));
    now += 5000;
    const other = await voices.synthesisError(synthesizerPath, 'voxa-v3.5-plus', id);
    expect(other).toEqual({
      status: 400,
      message: `input.voice ${id} was created for model voxa-v3.5-flash, not for voxa-v3.5-plus`,
    });
    const socket = await new InferenceClient(client.sandbox).opened();
    socket.run(crypto.randomUUID(), { voice: id }, { model: 'voxa-v1' });
    const { last } = await socket.until('task-failed');
    expect(last.header).toMatchObject({
      error_code: 'InvalidParameter',
      error_message: `payload.parameters.voice ${id} was created for model voxa-v3.5-flash, not for voxa-v1`,
    });
  });

  test('update replaces the voice under the same id', async () => {
    const id = await clone(await voices.record('voxton'));
    now += 60_000;
    const url = await voices.record('voxanna');
    expect(await enroll({ action: 'update_voice', voice_id: id, url })).toMatchObject({
      output: {},
      usage: { count: 0 },
    });
    expect((await query(id)).output).toMatchObject({
      gmt_create: '2026-02-01 09:30:00',
      gmt_modified: '2026-02-01 09:31:00',
      status: 'DEPLOYING',
      resource_link: url,
    });
    now += 5000;
    expect((await query(id)).output).toMatchObject({ gmt_modified: '2026-02-01 09:31:05', status: 'OK' });
    expect(fundamental(await voices.synthesize('voxa-v3.5-flash', id))).toBeGreaterThan(180);
  });

  test('delete removes the voice', async () => {
    const id = await clone(await voices.record('voxton'));
    now += 5000;
    expect(await enroll({ action: 'delete_voice', voice_id: id })).toMatchObject({
      output: {},
      usage: { count: 0 },
    });
    const gone = await voices.post('voice-enrollment', { action: 'query_voice', voice_id: id });
    expect(gone).toMatchObject({ status: 404, code: 'VoiceNotFound' });
    expect((await voices.synthesisError(synthesizerPath, 'voxa-v3.5-flash', id)).message).toContain(
      'does not exist',
    );
  });

  test('lists voices by prefix and page, the newest first', async () => {
    const url = await voices.record('voxton');
    const ids: string[] = [];
    for (const prefix of ['list', 'list', 'other', 'list']) ids.push(await clone(url, { prefix }));
    const list = async (input: object) =>
      (await enroll({ action: 'list_voice', ...input })).output.voice_list.map(({ voice_id }) => voice_id);
    const newest = [ids[3], ids[1], ids[0]];
    expect(await list({ prefix: 'list' })).toEqual(newest);
    expect(await list({ prefix: 'list', page_size: 2 })).toEqual(newest.slice(0, 2));
    expect(await list({ prefix: 'list', page_size: 2, page_index: 1 })).toEqual(newest.slice(2));
    expect((await list({})).slice(0, 4)).toEqual([...ids].reverse());
    const { output, usage } = await enroll({ action: 'list_voice', prefix: 'other' });
    expect([output, usage]).toEqual([
      {
        voice_list: [
          {
            voice_id: ids[2],
            gmt_create: '2026-02-01 09:30:00',
            gmt_modified: '2026-02-01 09:30:00',
            status: 'DEPLOYING',
          },
        ],
      },
      { count: 0 },
    ]);
  });

  test('[[undeployed]] ends as UNDEPLOYED, and the voice is never usable', async () => {
    const url = await voices.record('voxton');
    for (const mark of ['#[[undeployed]]', '&x=%5B%5Bundeployed%5D%5D']) {
      const id = await clone(url + mark);
      expect((await query(id)).output.status).toBe('DEPLOYING');
      now += 5000;
      expect((await query(id)).output.status).toBe('UNDEPLOYED');
      expect((await voices.synthesisError(synthesizerPath, 'voxa-v3.5-flash', id)).message).toContain(
        'status UNDEPLOYED',
      );
      await enroll({ action: 'update_voice', voice_id: id, url });
      now += 5000;
      expect((await query(id)).output.status).toBe('OK');
    }
  });
});

describe('alpha-voice-enrollment', () => {
  const create = (input: object) =>
    voices.act('alpha-voice-enrollment', {
      action: 'create',
      target_model: vcModel,
      preferred_name: 'narrator_1',
      ...input,
    });

  test('a voice is usable immediately over HTTP or on the realtime socket, depending on its target model', async () => {
    const file = await voices.recordFile('voxhai');
    const data = wav(file);
    const [http, socket] = await Promise.all([
      create({ audio: { data }, text: 'What it says', language: 'en' }),
      create({ audio: { data: await voices.record('voxanna') }, target_model: vcRealtime }),
    ]);
    expect(http).toMatchObject({
      output: {
        voice: expect.stringMatching(/^alpha-tts-vc-narrator_1-voice-20260201-[0-9a-f]+$/),
        target_model: vcModel,
      },
      usage: { count: 1 },
    });
    const pitches = [
      fundamental(await voices.generate(vcModel, http.output.voice)),
      fundamental(await voices.realtime(vcRealtime, socket.output.voice)),
    ];
    expect(Math.abs(Math.log2((pitches[0] ?? 0) / fundamental(inspectWav(file))))).toBeLessThan(0.12);
    expect((pitches[1] ?? 0) / (pitches[0] ?? 1)).toBeGreaterThan(1.5);

    expect((await voices.synthesisError(multimodalPath, vcModel, socket.output.voice)).message).toContain(
      `was created for model ${vcRealtime}`,
    );
    expect((await voices.synthesisError(multimodalPath, 'alpha3-tts-flash', http.output.voice)).status).toBe(
      400,
    );
    const session = new RealtimeClient(client.sandbox, vcRealtime);
    await session.expect('session.created');
    session.emit('session.update', { session: { voice: http.output.voice } });
    expect((await session.expect('error')).error).toMatchObject({
      code: 'invalid_value',
      param: 'session.voice',
    });
    session.socket.close();
  });

  test('list and delete', async () => {
    const { output } = await create({
      audio: { data: wav(await voices.recordFile('voxton')) },
      preferred_name: 'to_delete',
    });
    const list = async (input: object = {}) =>
      await voices.act('alpha-voice-enrollment', { action: 'list', ...input });
    const listed = await list({ page_size: 1 });
    expect(listed.output).toEqual({
      page_index: 0,
      page_size: 1,
      total_count: expect.any(Number),
      voice_list: [
        {
          voice: output.voice,
          gmt_create: '2026-02-01 09:30:00',
          gmt_modified: '2026-02-01 09:30:00',
          language: 'zh',
          target_model: vcModel,
        },
      ],
    });
    const count = Number(listed.output.total_count);
    const gone = await voices.act('alpha-voice-enrollment', { action: 'delete', voice: output.voice });
    expect([gone.output, gone.usage]).toEqual([{ voice: output.voice }, { count: 0 }]);
    expect((await list()).output.total_count).toBe(count - 1);
    const again = await voices.post('alpha-voice-enrollment', { action: 'delete', voice: output.voice });
    expect(again).toMatchObject({ status: 404, code: 'VoiceNotFound' });
  });
});

describe('voice_clone of the beta models', () => {
  const model = 'beta/speech-2.8-turbo';

  async function cloneBeta(input: object) {
    const response = await client.post(multimodalPath, { model, input: { action: 'voice_clone', ...input } });
    const body = (await response.json()) as {
      output: Record<string, unknown>;
      usage: object;
      message?: string;
    };
    return { status: response.status, ...body };
  }

  async function speakBeta(voice_id: string, asked = model) {
    const input = {
      text: 'Hello there, my friend.',
      voice_setting: { voice_id },
      audio_setting: { format: 'wav' },
    };
    const response = await client.post(multimodalPath, { model: asked, input });
    const { output } = (await response.json()) as { output?: { data: { audio: string } } };
    return output && inspectWav(Buffer.from(output.data.audio, 'hex'));
  }

  test('creates a voice with the requested id and a demo', async () => {
    const audio_url = await voices.record('voxanna', { pitch: 1.1 });
    const reply = await cloneBeta({ voice_id: 'My-Voice_1', audio_url, text: 'This is 我.' });
    expect(reply.output).toEqual({
      base_resp: { status_code: 0, status_msg: 'success' },
      demo_audio: expect.stringMatching(/^http:.*\.mp3\?/),
      input_sensitive: false,
      input_sensitive_type: 0,
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(reply.usage).toEqual({ characters: 11 });
    const demo = Buffer.from(await (await fetch(String(reply.output.demo_audio))).arrayBuffer());
    expect(inspectMp3(demo).seconds).toBeGreaterThan(0.5);
    const spoken = await speakBeta('My-Voice_1');
    if (!spoken) throw new Error('no audio');
    expect(fundamental(spoken)).toBeGreaterThan(200);
    expect(await speakBeta('My-Voice_1', 'beta/speech-02-hd')).toBeUndefined();
  });

  test('rejects an existing id, a short recording and an invalid recording with status 200', async () => {
    const audio_url = await voices.record('voxton');
    const short = await voices.record('voxton', { text: 'Too short for this.' });
    expect((await cloneBeta({ voice_id: 'Taken-Voice', audio_url })).output.demo_audio).toBe('');
    for (const [input, message] of [
      [{ voice_id: 'Taken-Voice', audio_url }, 'voice_id Taken-Voice is in use'],
      [{ voice_id: 'New-Voice', audio_url: short }, 'at least 10 seconds are required'],
      [{ voice_id: 'New-Voice', audio_url: `${client.sandbox.url}/files/none.wav` }, 'status 404'],
      [{ voice_id: 'New-Voice', audio_url, text: '[[base-resp:1008]]' }, 'insufficient balance'],
    ] as const) {
      const reply = await cloneBeta(input);
      expect(reply.status).toBe(200);
      const { status_code, status_msg } = reply.output.base_resp as {
        status_code: number;
        status_msg: string;
      };
      expect(status_code).toBe(message.startsWith('insufficient') ? 1008 : 2013);
      expect(status_msg).toContain(message);
    }
  });

  test.each([
    ['voice_id', { voice_id: 'short' }],
    ['voice_id', { voice_id: '1-starts-with-digit' }],
    ['voice_id', { voice_id: 'ends-with-dash-' }],
    ['audio_url', { audio_url: undefined }],
    ['text', { text: 'a'.repeat(1001) }],
    ['action', { action: 'voice_delete' }],
    ['need_noise_reduction', { need_noise_reduction: 1 }],
  ])('400 names %s', async (field, input) => {
    const reply = await cloneBeta({ voice_id: 'Good-Voice', audio_url: 'http://127.0.0.1/', ...input });
    expect(reply.status).toBe(400);
    expect(reply.message).toContain(`input.${field}`);
  });
});
