import { type Exchange, sendJson, sendText } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { requestedModel } from '../models.ts';
import { dropConnection, obeyTriggers } from '../refusals.ts';
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

/** Making a voice counts, managing voices does not. */
const countedActions = ['create', 'create_voice'];
/** Room for a recording of 10 MiB as Base64. */
const maxBodyBytes = 16 * 1024 * 1024;
/** Where a client can write triggers. */
const triggerFields = ['url', 'voice_prompt', 'preview_text', 'text'];
const brokenJson = '{"output":{"voice';

/** `POST /api/v1/services/audio/tts/customization`: three services that make and keep custom voices. */
export async function customizeVoices(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange.request, maxBodyBytes);
  const service = requestedModel(body.model, 'customization');
  const request = new Parameters(body, '');
  const input = request.requiredObject('input');
  const actions = services[service.id] ?? {};
  const action = input.optionalChoice('action', Object.keys(actions));
  const handler = action === undefined ? undefined : actions[action];
  if (!handler || action === undefined) throw input.wrong('action', 'is required');
  const parameters = request.object('parameters') ?? new Parameters({}, 'parameters');

  const triggers = findTriggers(...triggerFields.map((name) => input.string(name)));
  await obeyTriggers(exchange, triggers);
  if (triggers.has('drop')) await dropConnection(exchange);
  const output = await handler({ exchange, service, input, parameters, triggers });
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  const count = countedActions.includes(action) ? 1 : 0;
  sendJson(exchange, 200, { request_id: exchange.requestId, output, usage: { count } });
}
