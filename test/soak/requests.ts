import type { SoakRequest } from './recorder.ts';

/** Quota per unit of every model, as the deployment is configured. */
export const price = 10;

export type Random = () => number;

const sampleWords = 'a kite over the sea goes far and comes back when the wind turns at noon'.split(' ');
export function pick<T>(random: Random, of: readonly [T, ...T[]]): T {
  return of[Math.floor(random() * of.length)] ?? of[0];
}

/** Returns plain text. Each character is one unit. */
export function randomText(random: Random): string {
  return Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
    pick(random, ['kite', ...sampleWords]),
  ).join(' ');
}

export function post(
  kind: string,
  path: string,
  body: unknown,
  more: Partial<SoakRequest> = {},
): SoakRequest {
  return { kind, method: 'POST', path, body, ...more };
}

const speechPath = '/v1/audio/speech';
const messages = { 'compat-version': '2023-06-01' };
const speech = (input: string) => ({ model: 'alpha3-tts-flash', voice: 'Aria', input });
const streamedSpeech = (input: string) => ({ ...speech(input), stream: true, response_format: 'pcm' });
const nativeSpeech = (input: string) => ({
  model: 'alpha3-tts-flash',
  input: { text: input, voice: 'Aria' },
});
const costOf = (input: string) => ({ expectedCost: input.length * price });
const embedding = (input: string) => ({ model: 'theta-embedding-1', input });
const message = (content: string) => ({
  model: 'iota-chat-1',
  max_tokens: 64,
  messages: [{ role: 'user', content }],
});

function usageOf(body: string): number | undefined {
  const { usage } = JSON.parse(body) as { usage?: Record<string, number> };
  const units = usage?.characters ?? usage?.total_tokens;
  return units === undefined ? undefined : units * price;
}

/** A call that ends with its response. Expected status: 200. */
export function plainCall(random: Random): SoakRequest {
  const input = randomText(random);
  return pick(random, [
    post('speech', speechPath, speech(input), costOf(input)),
    post('speech', speechPath, speech(input), costOf(input)),
    post('speech stream', speechPath, streamedSpeech(input), costOf(input)),
    post('native speech', '/api/v1/services/aigc/multimodal-generation/generation', nativeSpeech(input), {
      ...costOf(input),
      readCost: usageOf,
    }),
    post(
      'native events',
      '/api/v1/services/audio/tts/SpeechSynthesizer',
      { model: 'voxa-v3-flash', input: { text: input, voice: 'voxanna' } },
      { headers: { 'x-native-sse': 'enable' }, ...costOf(input) },
    ),
    post('embedding', '/v1/embeddings', embedding(input), { readCost: usageOf }),
    post('message', '/v1/messages', message(input), {
      headers: messages,
      readCost: usageOf,
    }),
    post('message stream', '/v1/messages', { ...message(input), stream: true }, { headers: messages }),
    pick<SoakRequest>(random, [
      { kind: 'models', method: 'GET', path: '/v1/models' },
      { kind: 'list of videos', method: 'GET', path: '/v1/videos?limit=5' },
      logSearch,
    ]),
  ]);
}

export const logSearch: SoakRequest = { kind: 'log', method: 'GET', path: '/api/log/search?page_size=5' };

/** A speech call with a known cost. */
export function speechOf(input: string): SoakRequest {
  return post('speech', speechPath, speech(input), costOf(input));
}

/** An invalid request. Expected status: 4xx. */
export function badCall(random: Random): SoakRequest {
  return pick(random, [
    post('bad request', speechPath, { voice: 'Aria', input: 'Hi.' }, { statuses: [400] }),
    post('bad request', speechPath, { ...speech('Hi.'), model: 'no-such-model' }, { statuses: [400, 404] }),
    post('bad request', speechPath, '{"model": ', { statuses: [400] }),
    post('bad request', speechPath, speech('Hi.'), {
      headers: { authorization: 'Bearer sk-nobody-has-this-key' },
      statuses: [401],
    }),
    {
      kind: 'bad request',
      method: 'GET',
      path: '/v1/videos/video_nobody-has-this',
      statuses: [404],
    } as const,
    post('bad request', '/v1/no-such-path', {}, { statuses: [404] }),
  ]);
}

/** A call that fails at the upstream, by one of its documented triggers. */
export function faultyCall(random: Random): SoakRequest {
  const [trigger, statuses] = pick<readonly [string, readonly number[]]>(random, [
    ['reject', [400]],
    ['unauthorized', [502]],
    ['denied', [502]],
    ['throttle', [429]],
    ['error', [502]],
    ['unavailable', [502, 503]],
    ['malformed', [502]],
    ['drop', [502]],
    ['fail-late', [502]],
    ['slow', []],
    ['no-audio', [502]],
    ['expired-url', [502]],
  ]);
  const input = `[[${trigger}]] ${randomText(random)}`;
  const more = { statuses: [...statuses, 200], mayFail: true };
  return pick(random, [
    post(`faulty speech`, speechPath, speech(input), more),
    post(`faulty stream`, speechPath, streamedSpeech(input), more),
    post(
      'faulty native speech',
      '/api/v1/services/aigc/multimodal-generation/generation',
      nativeSpeech(input),
      more,
    ),
    post(`faulty embedding`, '/v1/embeddings', embedding(input), more),
    post(`faulty message`, '/v1/messages', message(input), {
      ...more,
      headers: messages,
    }),
  ]);
}

/** A call that the client aborts before or during its response. */
export function abortedCall(random: Random): SoakRequest {
  const abortAfterMs = Math.floor(random() * 120);
  const input = randomText(random);
  return pick(random, [
    post('aborted call', speechPath, speech(input), { abortAfterMs }),
    post('aborted call', speechPath, streamedSpeech(`${input} ${input} ${input}`), { abortAfterMs }),
    post('aborted call', speechPath, speech(`[[hang]] ${input}`), { abortAfterMs }),
  ]);
}

/** A call whose client delays reading the response, which causes backpressure. */
export function slowReader(random: Random): SoakRequest {
  const input = Array.from({ length: 40 }, () => randomText(random))
    .join(' ')
    .slice(0, 600)
    .trim();
  return post('slow reader', speechPath, streamedSpeech(input), {
    ...costOf(input),
    readAfterMs: 500 + Math.floor(random() * 2_500),
  });
}
