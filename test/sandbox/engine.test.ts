import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../server/sandbox/sandbox.ts';
import { SpeechEngine } from '../../server/sandbox/speech/engine.ts';
import { EngineMissing } from '../../server/sandbox/speech/espeak.ts';
import { multimodalPath, SandboxClient } from './sandbox-client.ts';

const engine = new SpeechEngine({ module: '@echogarden/espeak-ng-emscripten', workers: 1 });
const audio = { format: 'pcm', sampleRate: 22050, channels: 1 } as const;
const utterance = {
  text: 'One sentence.',
  voice: 'gmw/en-US+m3',
  wordsPerMinute: 175,
  pitch: 50,
  range: 50,
  gain: 1,
  pause: 0,
};
const never = new AbortController().signal;

afterAll(async () => await engine.close());

describe('SpeechEngine', () => {
  test('synthesizes only what the caller requests', async () => {
    const speech = engine.speak([utterance, utterance], audio, never);
    const first = await speech.next();
    expect(first.value?.seconds).toBeGreaterThan(0.5);
    // While one reader pauses, the same thread serves another one.
    for await (const other of engine.speak([utterance], audio, never))
      expect(other.seconds).toBeGreaterThan(0.5);
    expect((await speech.next()).done).toBe(false);
    expect((await speech.next()).done).toBe(true);
  });

  test('stops when the signal aborts, and serves the next request', async () => {
    const leave = new AbortController();
    let spoken = 0;
    const speak = async () => {
      for await (const _ of engine.speak(Array(50).fill(utterance), audio, leave.signal)) {
        spoken++;
        if (spoken === 2) leave.abort(new Error('the client disconnected'));
      }
    };
    await expect(speak()).rejects.toThrow('the client disconnected');
    expect(spoken).toBe(2);
    for await (const { seconds } of engine.speak([utterance], audio, never))
      expect(seconds).toBeGreaterThan(0.5);
  });

  test('removes a queued command when its client disconnects', async () => {
    const leave = new AbortController();
    const busy = engine.speak([utterance], audio, never);
    const running = busy.next();
    const waiting = engine.speak([utterance], audio, leave.signal).next();
    leave.abort(new Error('the client disconnected'));
    await expect(waiting).rejects.toThrow('the client disconnected');
    expect((await running).done).toBe(false);
    await busy.return();
  });

  test('an unknown engine voice fails only that request', async () => {
    const bad = engine.speak([{ ...utterance, voice: 'nowhere' }], audio, never);
    await expect(bad.next()).rejects.toThrow('No engine voice nowhere');
    expect((await engine.speak([utterance], audio, never).next()).done).toBe(false);
  });

  test('reports a missing engine package', async () => {
    const missing = new SpeechEngine({ module: '@unigate/no-such-engine', workers: 1 });
    await expect(missing.speak([utterance], audio, never).next()).rejects.toBeInstanceOf(EngineMissing);
    await missing.close();
  });
});

test('without the engine package the upstream returns 503', async () => {
  const client = new SandboxClient();
  client.sandbox = await startSandbox({ key: 'k', engine: '@unigate/no-such-engine' });
  for (const events of [false, true]) {
    const body = { model: 'alpha3-tts-flash', input: { text: 'Hello', voice: 'Aria' } };
    const response = await client.post(multimodalPath, body, { events });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      code: 'ModelUnavailable',
      message: 'The speech engine @unigate/no-such-engine is not installed',
      request_id: response.headers.get('x-request-id'),
    });
  }
  await client.sandbox.close();
});
