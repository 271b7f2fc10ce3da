import { describe, expect, test } from 'vitest';
import {
  type BetaReply,
  multimodalPath,
  type NativeReply,
  parseEvents,
  synthesizerPath,
  useSandbox,
} from './sandbox-client.ts';

const client = useSandbox({ slowDelayMs: 30 });

const routes = [
  ['voxa', synthesizerPath, (text: string) => ({ model: 'voxa-v2', input: { text, voice: 'voxanna' } })],
  [
    'alpha3',
    multimodalPath,
    (text: string) => ({ model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } }),
  ],
  [
    'beta',
    multimodalPath,
    (text: string) => ({
      model: 'beta/speech-02-hd',
      input: { text, voice_setting: { voice_id: 'beta_male_deep' } },
    }),
  ],
] as const;

describe.each(routes)('%s', (_family, path, body) => {
  test.each([
    ['reject', 400, 'DataInspectionFailed'],
    ['unauthorized', 401, 'InvalidApiKey'],
    ['denied', 403, 'AccessDenied'],
    ['throttle', 429, 'Throttling.RateQuota'],
    ['error', 500, 'InternalError'],
    ['unavailable', 503, 'ModelUnavailable'],
  ])('[[%s]] is %i %s', async (name, status, code) => {
    for (const events of [false, true]) {
      const response = await client.post(path, body(`Please [[${name}]] this.`), { events });
      expect(response.status).toBe(status);
      const error = await response.json();
      expect(error).toEqual({
        code,
        message: expect.any(String),
        request_id: response.headers.get('x-request-id'),
      });
      expect(response.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    }
  });

  test('[[malformed]] is malformed JSON with status 200', async () => {
    const whole = await client.post(path, body('[[malformed]]'));
    expect(whole.status).toBe(200);
    await expect(whole.json()).rejects.toThrow(SyntaxError);
    const stream = await client.post(path, body('[[malformed]]'), { events: true });
    const [event] = parseEvents(await stream.text());
    expect(() => JSON.parse(event?.data ?? '') as unknown).toThrow(SyntaxError);
  });

  test('[[drop]] breaks the connection', async () => {
    await expect(client.post(path, body('[[drop]] hello'))).rejects.toThrow('fetch failed');
    const stream = await client.post(path, body('[[drop]] hello'), { events: true });
    expect(stream.status).toBe(200);
    await expect(stream.text()).rejects.toThrow('terminated');
  });

  test('[[fail-late]] fails after the first audio', async () => {
    expect((await client.post(path, body('[[fail-late]] hello'))).status).toBe(500);
    const stream = await client.post(path, body('[[fail-late]] hello'), { events: true });
    const events = parseEvents(await stream.text());
    const last = events.at(-1);
    expect(events.length).toBeGreaterThan(1);
    expect(last).toMatchObject({ id: events.length, event: 'error', status: 500 });
    const error = JSON.parse(last?.data ?? '') as object;
    expect(error).toMatchObject({ code: 'InternalError', request_id: stream.headers.get('x-request-id') });
  });

  test('[[hang]] sends no response until the client disconnects', async () => {
    const leave = new AbortController();
    const hanging = client.post(path, body('[[hang]]'), { signal: leave.signal });
    const other = client.post(path, body('Hello.'));
    const winner = await Promise.race([hanging.then(() => 'hanging'), other.then(() => 'other')]);
    expect(winner).toBe('other');
    leave.abort();
    await expect(hanging).rejects.toThrow('aborted');
  });

  test('[[slow]] responds normally after a delay', async () => {
    expect((await client.post(path, body('[[slow]] hello'))).status).toBe(200);
  });
});

test('[[no-audio]] returns no audio, but is billed', async () => {
  const voxa = { model: 'voxa-v2', input: { text: '[[no-audio]] hello', voice: 'voxanna' } };
  const whole = (await (await client.post(synthesizerPath, voxa)).json()) as NativeReply;
  expect(whole.output.audio).toMatchObject({ data: '', url: '' });
  expect(whole.usage).toEqual({ characters: 18 });
  const events = await client.stream(synthesizerPath, voxa);
  expect(events.map(({ output }) => output.audio.data + (output.audio.url ?? '')).join('')).toBe('');
  expect(events.at(-1)?.output.finish_reason).toBe('stop');
  const beta = routes[2][2]('[[no-audio]] hello');
  const reply = (await (await client.post(multimodalPath, beta)).json()) as BetaReply;
  expect(reply.output.data).toEqual({ audio: '', status: 2 });
});

test('[[expired-url]] returns an expired URL', async () => {
  const body = { model: 'alpha3-tts-flash', input: { text: '[[expired-url]] hello', voice: 'Aria' } };
  const { output } = (await (await client.post(multimodalPath, body)).json()) as NativeReply;
  expect((await fetch(output.audio.url)).status).toBe(403);
});

test.each([1002, 1004, 1027, 4321])('[[base-resp:%i]] is an error with status 200', async (code) => {
  const body = routes[2][2](`[[base-resp:${code}]]`);
  const response = await client.post(multimodalPath, body);
  const reply = (await response.json()) as BetaReply;
  expect(response.status).toBe(200);
  expect(reply.output).toMatchObject({
    base_resp: { status_code: code, status_msg: expect.any(String) },
    data: null,
  });
  const [event, ...more] = await client.stream<BetaReply>(multimodalPath, body);
  expect(event?.output.base_resp).toEqual(reply.output.base_resp);
  expect(more).toEqual([]);
});

test('triggers are not spoken', async () => {
  const say = async (text: string) => {
    const body = { model: 'alpha-tts', input: { text, voice: 'Bruno' } };
    return Number((await client.speak(multimodalPath, body)).reply.usage.output_tokens);
  };
  expect(
    Math.abs((await say('[[slow]]Hello there, my friend.')) - (await say('Hello there, my friend.'))),
  ).toBeLessThan(4);
});
