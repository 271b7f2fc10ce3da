import type { Ask } from './evidence.ts';

/** Quota per unit of everything, as the site has it. */
export const price = 10;

export type Random = () => number;

const words = 'a kite over the sea goes far and comes back when the wind turns at noon'.split(' ');
export function pick<T>(random: Random, of: readonly [T, ...T[]]): T {
  return of[Math.floor(random() * of.length)] ?? of[0];
}

/** Plain text, each character of which is one unit. */
export function text(random: Random): string {
  return Array.from({ length: 1 + Math.floor(random() * 9) }, () => pick(random, ['kite', ...words])).join(
    ' ',
  );
}

export function post(kind: string, path: string, body: unknown, more: Partial<Ask> = {}): Ask {
  return { kind, method: 'POST', path, body, ...more };
}

const speechPath = '/v1/audio/speech';
const messages = { 'compat-version': '2023-06-01' };
const speech = (input: string) => ({ model: 'alpha3-tts-flash', voice: 'Aria', input });
const streamed = (input: string) => ({ ...speech(input), stream: true, response_format: 'pcm' });
const nativeSpeech = (input: string) => ({
  model: 'alpha3-tts-flash',
  input: { text: input, voice: 'Aria' },
});
const characters = (input: string) => ({ costs: input.length * price });
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

/** A call that ends with its answer, and should be answered with 200. */
export function plainCall(random: Random): Ask {
  const input = text(random);
  return pick(random, [
    post('speech', speechPath, speech(input), characters(input)),
    post('speech', speechPath, speech(input), characters(input)),
    post('speech stream', speechPath, streamed(input), characters(input)),
    post('native speech', '/api/v1/services/aigc/multimodal-generation/generation', nativeSpeech(input), {
      ...characters(input),
      costsOf: usageOf,
    }),
    post(
      'native events',
      '/api/v1/services/audio/tts/SpeechSynthesizer',
      { model: 'voxa-v3-flash', input: { text: input, voice: 'voxanna' } },
      { headers: { 'x-native-sse': 'enable' }, ...characters(input) },
    ),
    post('embedding', '/v1/embeddings', embedding(input), { costsOf: usageOf }),
    post('message', '/v1/messages', message(input), {
      headers: messages,
      costsOf: usageOf,
    }),
    post('message stream', '/v1/messages', { ...message(input), stream: true }, { headers: messages }),
    pick<Ask>(random, [
      { kind: 'models', method: 'GET', path: '/v1/models' },
      { kind: 'list of videos', method: 'GET', path: '/v1/videos?limit=5' },
      { kind: 'log', method: 'GET', path: '/api/log/search?page_size=5' },
    ]),
  ]);
}

/** Speech alone, at a cost that is known beforehand. */
export function speechOf(input: string): Ask {
  return post('speech', speechPath, speech(input), characters(input));
}

/** A request that is wrong, and is to be answered so. */
export function badCall(random: Random): Ask {
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

/** A call that the upstream is told to fail, by its documented triggers. */
export function faultyCall(random: Random): Ask {
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
  const input = `[[${trigger}]] ${text(random)}`;
  const more = { statuses: [...statuses, 200], mayBreak: true };
  return pick(random, [
    post(`faulty speech`, speechPath, speech(input), more),
    post(`faulty stream`, speechPath, streamed(input), more),
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

/** A client that leaves before its answer, or in the middle of it. */
export function leaver(random: Random): Ask {
  const leaveAfterMs = Math.floor(random() * 120);
  const input = text(random);
  return pick(random, [
    post('leaver', speechPath, speech(input), { leaveAfterMs }),
    post('leaver', speechPath, streamed(`${input} ${input} ${input}`), { leaveAfterMs }),
    post('leaver', speechPath, speech(`[[hang]] ${input}`), { leaveAfterMs }),
  ]);
}

/** A client that lets its answer wait, so that all on the way to it has to. */
export function slowReader(random: Random): Ask {
  const input = Array.from({ length: 40 }, () => text(random))
    .join(' ')
    .slice(0, 600)
    .trim();
  return post('slow reader', speechPath, streamed(input), {
    ...characters(input),
    readsAfterMs: 500 + Math.floor(random() * 2_500),
  });
}
