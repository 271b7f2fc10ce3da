import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { resolveModel } from '../models.ts';
import { generateAlphaSpeech } from './alpha.ts';
import { generateBetaSpeech } from './beta.ts';
import { Parameters } from './parameters.ts';

/**
 * `POST /api/v1/services/aigc/multimodal-generation/generation`: two protocols share the path, selected by the model.
 */
export async function generateMultimodal(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange.request);
  const model = resolveModel(body.model, 'multimodal');
  const input = new Parameters(body, '').requiredObject('input');
  if (model.family === 'beta') await generateBetaSpeech(exchange, model, input);
  else await generateAlphaSpeech(exchange, model, input);
}
