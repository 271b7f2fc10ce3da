import { seededRandom } from '../support/seeded-random.ts';
import { models } from './rates.ts';

/** A request of a customer. */
export interface Call {
  kind: 'speech' | 'text' | 'video';
  path: string;
  body: object;
}

const words = 'a kite over the sea goes far 风筝 and comes back when the wind turns at noon'.split(' ');
const resolutions = ['480p', '720p', '1080p'] as const;
const systemPrompt = 'Answer in one short sentence. '.repeat(12).trim();

/** Returns a reproducible mix of calls: more than half speech, one in ten a video. */
export function createCalls(seed: number): () => Call {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const text = () => Array.from({ length: 2 + below(30) }, () => words[below(words.length)]).join(' ');
  return () => {
    const choice = random();
    if (choice < 0.1) {
      const options = {
        resolution: resolutions[below(resolutions.length)],
        duration: 4 + below(9),
        generate_audio: random() < 0.5,
      };
      const content = [{ type: 'text', text: text() }];
      const body = { model: models.video, content, ...options };
      return { kind: 'video', path: '/api/v3/contents/generations/tasks', body };
    }
    if (choice < 0.45) {
      const body = {
        model: models.text,
        max_tokens: 64,
        ...(random() < 0.5 && { system: systemPrompt }),
        messages: [{ role: 'user', content: text() }],
      };
      return { kind: 'text', path: '/v1/messages', body };
    }
    return { kind: 'speech', ...speechRequest(text()) };
  };
}

/** Returns a speech request without its kind. */
export function speechRequest(text: string): Omit<Call, 'kind'> {
  const body = { model: models.speech, input: { text, voice: 'Aria' } };
  return { path: '/api/v1/services/aigc/multimodal-generation/generation', body };
}
