import { BadRequestError, RealtimeError } from '../errors.ts';
import type { Model } from '../models.ts';
import type { Unigate } from '../unigate.ts';
import { ErrorWithHint } from './error-with-hint.ts';

const preferredModels = ['voxa-v3-flash', 'alpha3-tts-flash-realtime'];

/** Adds a model and a voice that support the format to an error about the format. */
export async function withFormatHint(
  client: Unigate,
  error: unknown,
  format: string | undefined,
  route: 'http' | 'realtime',
): Promise<unknown> {
  if (format === undefined || !isFormatError(error)) return error;
  const models = await client.models.list({ maxRetries: 0 }).catch(() => []);
  const supporting = models.filter((model) => supportsFormat(format, route, model));
  const { id, voices } =
    supporting.find((model) => preferredModels.includes(model.id)) ?? supporting[0] ?? {};
  if (!voices?.[0]) return error;
  return new ErrorWithHint(`${id} supports ${format}: --model ${id} --voice ${voices[0].id}`, error);
}

function isFormatError(error: unknown): boolean {
  if (error instanceof RealtimeError) return error.param?.endsWith('response_format') ?? false;
  return error instanceof BadRequestError && error.message.startsWith('response_format:');
}

/** Whether a model with system voices supports a format that other models reject. */
function supportsFormat(
  format: string,
  route: 'http' | 'realtime',
  { id, protocols, voices }: Model,
): boolean {
  if (!voices?.length) return false;
  if (route === 'realtime') return protocols.includes('realtime') && id.startsWith('alpha3');
  return format === 'flac' ? id.startsWith('beta/') : protocols.includes('synthesizer');
}
