import { type Exchange, sendJson, sendText } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { resolveModel } from '../models.ts';
import { applyTriggers, dropConnection } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { alphaCloneActions, alphaDesignActions } from './alpha-voices.ts';
import { Parameters } from './parameters.ts';
import { voiceEnrollmentActions } from './voice-enrollment.ts';
import type { VoiceActions } from './voice-request.ts';

const services: Readonly<Record<string, VoiceActions>> = {
  'voice-enrollment': voiceEnrollmentActions,
  'alpha-voice-enrollment': alphaCloneActions,
  'alpha-voice-design': alphaDesignActions,
};

/** Creating a voice is billed, managing voices is not. */
const billedActions = ['create', 'create_voice'];
/** Large enough for a recording of 10 MiB as Base64. */
const maxBodyBytes = 16 * 1024 * 1024;
/** Fields that are searched for triggers. */
const triggerFields = ['url', 'voice_prompt', 'preview_text', 'text'];
const brokenJson = '{"output":{"voice';

/** `POST /api/v1/services/audio/tts/customization`: three services that create and manage custom voices. */
export async function customizeVoices(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange.request, maxBodyBytes);
  const service = resolveModel(body.model, 'customization');
  const request = new Parameters(body, '');
  const input = request.requiredObject('input');
  const actions = services[service.id] ?? {};
  const action = input.optionalChoice('action', Object.keys(actions));
  const handler = action === undefined ? undefined : actions[action];
  if (!handler || action === undefined) throw input.invalid('action', 'is required');
  const parameters = request.object('parameters') ?? new Parameters({}, 'parameters');

  const triggers = findTriggers(...triggerFields.map((name) => input.string(name)));
  await applyTriggers(exchange, triggers);
  if (triggers.has('drop')) await dropConnection(exchange);
  const output = await handler({ exchange, service, input, parameters, triggers });
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  const count = billedActions.includes(action) ? 1 : 0;
  sendJson(exchange, 200, { request_id: exchange.requestId, output, usage: { count } });
}
