import { BadRequestError, RealtimeError } from '../errors.ts';
import type { Model } from '../models.ts';
import type { Unigate } from '../unigate.ts';
import { AdvisedError } from './advice.ts';

const preferred = ['voxa-v3-flash', 'alpha3-tts-flash-realtime'];

/** After a refusal that is about the format, the same error with a model and a voice that make it. */
export async function adviseFormat(
  client: Unigate,
  error: unknown,
  format: string | undefined,
  route: 'http' | 'realtime',
): Promise<unknown> {
  if (format === undefined || !isAboutFormat(error)) return error;
  const models = await client.models.list({ maxRetries: 0 }).catch(() => []);
  const able = models.filter((model) => makes(format, route, model));
  const { id, voices } = able.find((model) => preferred.includes(model.id)) ?? able[0] ?? {};
  if (!voices?.[0]) return error;
  return new AdvisedError(`${id} makes ${format}: --model ${id} --voice ${voices[0].id}`, error);
}

function isAboutFormat(error: unknown): boolean {
  if (error instanceof RealtimeError) return error.param?.endsWith('response_format') ?? false;
  return error instanceof BadRequestError && error.message.startsWith('response_format:');
}

/** Of the models with system voices: whether one makes a format that others do not. */
function makes(format: string, route: 'http' | 'realtime', { id, protocols, voices }: Model): boolean {
  if (!voices?.length) return false;
  if (route === 'realtime') return protocols.includes('realtime') && id.startsWith('alpha3');
  return format === 'flac' ? id.startsWith('beta/') : protocols.includes('synthesizer');
}
