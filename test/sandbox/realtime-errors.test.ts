import { describe, expect, test } from 'vitest';
import type { RealtimeServerEvent } from '../../generated/events.ts';
import { inspectPcm } from './audio-inspection.ts';
import { RealtimeClient } from './realtime-client.ts';
import { useSandbox } from './sandbox-client.ts';
import { rejectHandshake } from './socket-client.ts';

const client = useSandbox({ slowDelayMs: 20 });
const flash = 'alpha3-tts-flash-realtime';
const legacy = 'alpha-tts-realtime-latest';

async function configured(session: object = {}, model = flash): Promise<RealtimeClient> {
  const socket = new RealtimeClient(client.sandbox, model);
  await socket.configure({ voice: 'Aria', ...session });
  return socket;
}

async function created(model = flash): Promise<RealtimeClient> {
  const socket = new RealtimeClient(client.sandbox, model);
  await socket.expect('session.created');
  return socket;
}

describe('the handshake', () => {
  test.each([
    ['a wrong key', `?model=${flash}`, 'wrong', 401, 'InvalidApiKey'],
    ['no key', `?model=${flash}`, '', 401, 'InvalidApiKey'],
    ['no model', '', 'sandbox-key', 400, 'InvalidParameter'],
    ['a model of another protocol', '?model=alpha3-tts-flash', 'sandbox-key', 400, 'InvalidParameter'],
    ['an unknown model', '?model=nothing', 'sandbox-key', 404, 'ModelNotFound'],
  ])('with %s returns an HTTP error', async (_case, query, key, status, code) => {
    const refusal = await rejectHandshake(`${client.sandbox.wsUrl}/api-ws/v1/realtime${query}`, key);
    expect(refusal).toEqual({
      status,
      body: { code, message: expect.any(String), request_id: expect.any(String) },
    });
  });

  test('an unknown path, and a path without a WebSocket', async () => {
    const { wsUrl, url, key } = client.sandbox;
    expect(await rejectHandshake(`${wsUrl}/api-ws/v1/other`, key)).toMatchObject({ status: 404 });
    const speech = await rejectHandshake(`${wsUrl}/api/v1/services/audio/tts/SpeechSynthesizer`, key);
    expect(speech).toMatchObject({ status: 405 });
    const headers = { authorization: `Bearer ${key}` };
    const plain = await fetch(`${url}/api-ws/v1/realtime?model=${flash}`, { headers });
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
  });
});

describe('an invalid event is reported and the socket stays open', () => {
  const update = (session: object) => ({ type: 'session.update', session: { voice: 'Aria', ...session } });

  test.each<[string, unknown, string, string | null]>([
    ['not JSON', '{', 'invalid_event', null],
    ['not an object', '[]', 'invalid_event', null],
    ['no event id', { type: 'session.finish', event_id: undefined }, 'invalid_event', 'event_id'],
    ['an empty event id', { type: 'session.finish', event_id: '' }, 'invalid_event', 'event_id'],
    ['an event id of another type', { type: 'session.finish', event_id: 1 }, 'invalid_event', 'event_id'],
    ['no type', {}, 'invalid_event', 'type'],
    ['an unknown type', { type: 'session.delete' }, 'invalid_event', 'type'],
    ['no session', { type: 'session.update' }, 'invalid_event', 'session'],
    ['no voice', { type: 'session.update', session: {} }, 'invalid_value', 'session.voice'],
    ['an unknown voice', update({ voice: 'nobody' }), 'invalid_value', 'session.voice'],
    ['a voice of another family', update({ voice: 'voxanna' }), 'invalid_value', 'session.voice'],
    ['mode', update({ mode: 'manual' }), 'invalid_value', 'session.mode'],
    ['language_type', update({ language_type: 'zh' }), 'invalid_value', 'session.language_type'],
    ['response_format', update({ response_format: 'flac' }), 'invalid_value', 'session.response_format'],
    ['sample_rate', update({ sample_rate: 22050 }), 'invalid_value', 'session.sample_rate'],
    ['speech_rate', update({ speech_rate: 2.01 }), 'invalid_value', 'session.speech_rate'],
    ['pitch_rate', update({ pitch_rate: 0.49 }), 'invalid_value', 'session.pitch_rate'],
    ['volume', update({ volume: 101 }), 'invalid_value', 'session.volume'],
    ['bit_rate', update({ bit_rate: 5 }), 'invalid_value', 'session.bit_rate'],
    ['instructions', update({ instructions: 'Slowly' }), 'invalid_value', 'session.instructions'],
    [
      'optimize_instructions',
      update({ optimize_instructions: true }),
      'invalid_value',
      'session.optimize_instructions',
    ],
    ['text too early', { type: 'input_text_buffer.append', text: 'Hi' }, 'session_not_ready', null],
    ['a commit too early', { type: 'input_text_buffer.commit' }, 'session_not_ready', null],
  ])('%s', async (_case, event, code, param) => {
    const socket = await created();
    const sent = typeof event === 'string' ? event : { event_id: 'event_bad', ...(event as object) };
    socket.send(sent);
    const event_id = typeof sent === 'object' && typeof sent.event_id === 'string' ? sent.event_id : null;
    const message = expect.stringMatching(/\w/);
    const error = { type: 'invalid_request_error', code, message, param, event_id };
    expect((await socket.expect('error')).error).toEqual(error);
    socket.emit('session.finish');
    await socket.expect('session.finished');
  });

  test.each([
    ['response_format', 'wav'],
    ['sample_rate', 16000],
    ['speech_rate', 1],
    ['pitch_rate', 1],
    ['volume', 50],
    ['bit_rate', 64],
  ])('legacy models do not support %s', async (name, value) => {
    const socket = await created(legacy);
    const event_id = socket.emit('session.update', { session: { voice: 'Aria', [name]: value } });
    expect((await socket.expect('error')).error).toMatchObject({
      code: 'invalid_value',
      param: `session.${name}`,
      event_id,
    });
    socket.socket.close();
  });

  test('system voices on VC and VD models', async () => {
    for (const model of ['alpha3-tts-vc-realtime-2026-01-15', 'alpha3-tts-vd-realtime-2026-01-15']) {
      const socket = await created(model);
      socket.emit('session.update', { session: { voice: 'Aria' } });
      expect((await socket.expect('error')).error.param).toBe('session.voice');
      socket.socket.close();
    }
  });

  test('a repeated event id', async () => {
    const socket = await configured();
    const event_id = socket.append('Hi');
    socket.send({ event_id, type: 'input_text_buffer.append', text: ' there.' });
    expect((await socket.expect('error')).error).toMatchObject({
      code: 'invalid_event',
      param: 'event_id',
      event_id,
    });
    const [response] = await socket.speakAll();
    expect(response?.done.usage).toEqual({ characters: 2 });
  });

  test('an empty or blank commit, in both modes', async () => {
    for (const mode of ['commit', 'server_commit']) {
      const socket = await configured({ mode });
      for (const text of ['', ' \n']) {
        socket.append(text);
        const event_id = socket.emit('input_text_buffer.commit');
        expect((await socket.expect('error')).error).toMatchObject({ code: 'empty_buffer', event_id });
      }
      socket.socket.close();
    }
  });

  test('text that is missing, too long, or exceeds the queue limit', async () => {
    const socket = await configured({ mode: 'commit' });
    socket.emit('input_text_buffer.append');
    expect((await socket.expect('error')).error).toMatchObject({ code: 'invalid_value', param: 'text' });
    socket.append('a'.repeat(20_001));
    expect((await socket.expect('error')).error).toMatchObject({ code: 'invalid_value', param: 'text' });
    for (let count = 0; count < 10; count++) socket.append('a'.repeat(20_000));
    const event_id = socket.append('a');
    expect((await socket.expect('error')).error).toMatchObject({ param: 'text', event_id });
    socket.socket.close();
  });

  test('session.update after synthesis has started, and any event after session.finish', async () => {
    const socket = await configured();
    socket.append('Hello.');
    const update = socket.emit('session.update', { session: { voice: 'Bruno' } });
    const finish = socket.emit('session.finish');
    const late = [
      socket.append('More.'),
      socket.emit('input_text_buffer.commit'),
      socket.emit('session.finish'),
      socket.emit('session.update', { session: { voice: 'Bruno' } }),
    ];
    const events = await socket.until('session.finished');
    const errors = events.flatMap((event) => (event.type === 'error' ? [event.error] : []));
    expect(errors.map(({ event_id }) => event_id)).toEqual([update, ...late]);
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['invalid_value']));
    expect(errors.map(({ event_id }) => event_id)).not.toContain(finish);
    const done = events.find(({ type }) => type === 'response.done');
    expect(done).toMatchObject({ response: { voice: 'Aria', usage: { characters: 6 } } });
    expect(await socket.closed).toEqual({ code: 1000, reason: '' });
  });
});

describe('frames that end the connection', () => {
  test('a binary frame', async () => {
    const socket = await created();
    socket.send(Buffer.from('{}'));
    expect(await socket.closed).toMatchObject({ code: 1003 });
  });

  test('a frame above 1 MiB', async () => {
    const socket = await created();
    socket.send(' '.repeat(1024 * 1024 + 1));
    expect(await socket.closed).toMatchObject({ code: 1009 });
  });
});

describe('triggers', () => {
  const codes: [string, string, string, number][] = [
    ['refuse-after-upgrade', 'AccessDenied', 'permission_error', 1008],
    ['unauthorized', 'InvalidApiKey', 'permission_error', 1008],
    ['denied', 'AccessDenied', 'permission_error', 1008],
    ['throttle', 'Throttling.RateQuota', 'rate_limit_error', 1013],
    ['error', 'InternalError', 'api_error', 1011],
    ['unavailable', 'ModelUnavailable', 'api_error', 1011],
  ];

  test.each(codes)('[[%s]] in the text sends one error and closes', async (name, code, type, closeCode) => {
    const socket = await configured();
    socket.append(`Please [[${name}]] this.`);
    expect((await socket.expect('error')).error).toMatchObject({ code, type });
    expect(await socket.closed).toMatchObject({ code: closeCode });
    expect(socket.pendingFrames).toBe(0);
  });

  test.each([...codes, ['reject', 'DataInspectionFailed', 'invalid_request_error', 1007] as const])(
    '[[%s]] in the voice rejects the session',
    async (name, code, type, closeCode) => {
      const socket = await created();
      socket.emit('session.update', { session: { voice: `[[${name}]]` } });
      expect((await socket.expect('error')).error).toMatchObject({ code, type });
      expect(await socket.closed).toMatchObject({ code: closeCode });
    },
  );

  test('[[refuse-after-upgrade]] applies immediately', async () => {
    const socket = await configured();
    socket.append('A sentence that takes its time. '.repeat(20));
    socket.append('[[refuse-after-upgrade]]');
    const events = await socket.until('error');
    expect(events.some(({ type }) => type === 'response.done')).toBe(false);
    expect(await socket.closed).toMatchObject({ code: 1008 });
  });

  test('[[reject]] is an error without a response, and the session continues', async () => {
    const socket = await configured();
    socket.append('Please [[reject]] this.');
    expect((await socket.expect('error')).error.code).toBe('DataInspectionFailed');
    const [response] = await socket.speakAll('Hello.');
    expect(response?.done.usage).toEqual({ characters: 6 });
  });

  test('[[fail-late]] fails the response after its first audio, and the session continues', async () => {
    const socket = await configured();
    socket.append('Please [[fail-late]] this.');
    const events = await socket.until('response.done');
    const types = events.map(({ type }: RealtimeServerEvent) => type);
    expect(types.slice(-3)).toEqual(['response.audio.delta', 'error', 'response.done']);
    expect(events.at(-1)).toMatchObject({
      response: { status: 'failed', output: [{ status: 'incomplete' }], usage: { characters: 26 } },
    });
    const [response] = await socket.speakAll('Hello.');
    expect(response?.done).toMatchObject({ status: 'completed', usage: { characters: 32 } });
  });

  test('[[drop]] breaks the connection after the first audio', async () => {
    const socket = await configured();
    socket.append('Please [[drop]] this.');
    await socket.until('response.audio.delta');
    expect(await socket.closed).toEqual({ code: 1006, reason: '' });
    expect(socket.pendingFrames).toBe(0);
  });

  test.each(['text', 'voice'])('[[hang]] in the %s stops all responses', async (place) => {
    const socket = place === 'text' ? await configured() : await created();
    if (place === 'text') socket.append('[[hang]] now.');
    else socket.emit('session.update', { session: { voice: '[[hang]]' } });
    socket.emit('session.finish');
    socket.send('not JSON');
    await socket.roundTrip();
    expect(socket.pendingFrames).toBe(0);
    socket.socket.close();
    await socket.closed;
  });

  test('[[garbage]] and [[malformed]] are sent before the audio', async () => {
    for (const name of ['garbage', 'malformed']) {
      const socket = await configured();
      socket.append(`[[${name}]] Hello.`);
      for (const type of [
        'response.created',
        'response.output_item.added',
        'response.content_part.added',
      ] as const)
        await socket.expect(type);
      const frame = String(await socket.readFrame());
      if (name === 'garbage') expect(() => JSON.parse(frame) as unknown).toThrow(SyntaxError);
      else expect(JSON.parse(frame)).toEqual({ type: 'response.audio.delta' });
      expect((await socket.response()).done.status).toBe('completed');
      socket.socket.close();
    }
  });

  test('[[no-audio]] sends no audio, but is billed', async () => {
    const [response] = await (await configured()).speakAll('[[no-audio]] Hello.');
    expect(response?.types).not.toContain('response.audio.delta');
    expect(response?.done.usage).toEqual({ characters: 19 });
  });

  test('[[slow]] responds normally after a delay, and is not spoken', async () => {
    const [slow] = await (await configured()).speakAll('[[slow]] Hello there.');
    const [plain] = await (await configured()).speakAll('Hello there.');
    const [late, soon] = [slow, plain].map((response) =>
      inspectPcm(response?.audio ?? Buffer.alloc(0), 24000),
    );
    expect(late?.seconds).toBeCloseTo(soon?.seconds ?? 0, 1);
  });
});
