import type { CatalogueModel } from '../../../generated/catalogue.ts';
import {
  type EventValidator,
  validateInputTextBufferAppend,
  validateInputTextBufferClear,
  validateInputTextBufferCommit,
  validateResponseCancel,
  validateSessionFinish,
  validateSessionUpdate,
} from '../../../generated/event-validators.js';
import type { RealtimeClientEvent, SessionUpdate } from '../../../generated/events.ts';
import { quoted, systemVoices } from '../../models/catalogue.ts';
import { fieldProblem, parseObject, type UsedIds } from '../frames.ts';
import type { SessionProblem } from './errors.ts';
import type { ClientEventType } from './states.ts';

const validators: ReadonlyMap<unknown, EventValidator<RealtimeClientEvent>> = new Map<
  ClientEventType,
  EventValidator<RealtimeClientEvent>
>([
  ['session.update', validateSessionUpdate],
  ['input_text_buffer.append', validateInputTextBufferAppend],
  ['input_text_buffer.commit', validateInputTextBufferCommit],
  ['input_text_buffer.clear', validateInputTextBufferClear],
  ['response.cancel', validateResponseCancel],
  ['session.finish', validateSessionFinish],
]);

/** Reads a client event from a text frame. Returns a problem if it is invalid, with the event's id if it has one. */
export function readClientEvent(
  text: string,
  usedIds: UsedIds,
): { event: RealtimeClientEvent } | { problem: SessionProblem; eventId: string | null } {
  const value = parseObject(text);
  if (value === undefined) return refuse('invalid_event', 'The frame is not a JSON object.', undefined, null);
  const { event_id: id, type } = value;
  const eventId = typeof id === 'string' && id !== '' && id.length <= 512 ? id : null;
  if (eventId !== null && !usedIds.add(eventId)) {
    return refuse('invalid_value', 'event_id: must be unique in this connection.', 'event_id', eventId);
  }
  const validate = validators.get(type);
  if (validate === undefined) {
    const known = [...validators.keys()].join(', ');
    return refuse('invalid_event', `type: must be one of ${known}.`, 'type', eventId);
  }
  const problem = fieldProblem(validate, value);
  if (problem === undefined) return { event: value as RealtimeClientEvent };
  const { field, message, malformed } = problem;
  return refuse(malformed ? 'invalid_event' : 'invalid_value', `${field}: ${message}`, field, eventId);
}

function refuse(
  code: SessionProblem['code'],
  message: string,
  param: string | undefined,
  eventId: string | null,
) {
  return { problem: { code, message, param }, eventId };
}

/** Settings that legacy models do not support. */
const unsupportedByLegacy = ['speech_rate', 'volume', 'pitch_rate', 'bit_rate'] as const;

/** Checks the settings against the rules that depend on the model, which no schema contains. */
export function sessionProblem(
  model: CatalogueModel,
  session: SessionUpdate['session'] & { model?: unknown },
): SessionProblem | undefined {
  if (session.model !== undefined && session.model !== model.id) {
    return problem('model', `must be ${model.id}, the model of this connection.`);
  }
  if (model.family === 'alpha-legacy') {
    const { response_format: format = 'pcm', sample_rate: rate = 24_000 } = session;
    if (format !== 'pcm') return problem('response_format', 'must be pcm for this model.');
    if (rate !== 24_000) return problem('sample_rate', 'must be 24000 for this model.');
    const unsupported = unsupportedByLegacy.find((name) => session[name] !== undefined);
    if (unsupported !== undefined) return problem(unsupported, 'is not supported by this model.');
  }
  if (model.instruct !== true) {
    const unsupported = session.instructions !== undefined ? 'instructions' : 'optimize_instructions';
    if (session.instructions !== undefined || session.optimize_instructions === true)
      return problem(unsupported, 'is supported only by instruct models.');
  }
  if (model.voices !== 'system' && systemVoices(model).some(({ id }) => id === session.voice)) {
    const kind = model.voices ?? 'custom';
    const message = `must be a ${kind} voice for this model; ${quoted(session.voice)} is a system voice.`;
    return problem('voice', message);
  }
  return undefined;
}

function problem(field: string, message: string): SessionProblem {
  return { code: 'invalid_value', message: `session.${field}: ${message}`, param: `session.${field}` };
}
