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
import type {
  InputTextBufferAppend,
  InputTextBufferClear,
  InputTextBufferCommit,
  ResponseCancel,
  SessionFinish,
  SessionUpdate,
} from '../../../generated/events.ts';
import { quoted, systemVoices } from '../../models/catalogue.ts';
import { fieldProblem, parseObject, type SeenIds } from '../frames.ts';
import type { SessionProblem } from './errors.ts';
import type { ClientEventType } from './states.ts';

export type ClientEvent =
  | SessionUpdate
  | InputTextBufferAppend
  | InputTextBufferCommit
  | InputTextBufferClear
  | ResponseCancel
  | SessionFinish;

const validators: ReadonlyMap<unknown, EventValidator<ClientEvent>> = new Map<
  ClientEventType,
  EventValidator<ClientEvent>
>([
  ['session.update', validateSessionUpdate],
  ['input_text_buffer.append', validateInputTextBufferAppend],
  ['input_text_buffer.commit', validateInputTextBufferCommit],
  ['input_text_buffer.clear', validateInputTextBufferClear],
  ['response.cancel', validateResponseCancel],
  ['session.finish', validateSessionFinish],
]);

/** A client's text frame as one of the events, or what is wrong with it and the id it can be told by. */
export function readClientEvent(
  text: string,
  seen: SeenIds,
): { event: ClientEvent } | { problem: SessionProblem; eventId: string | null } {
  const value = parseObject(text);
  if (value === undefined) return refuse('invalid_event', 'The frame is not a JSON object.', undefined, null);
  const { event_id: id, type } = value;
  const eventId = typeof id === 'string' && id !== '' && id.length <= 512 ? id : null;
  if (eventId !== null && !seen.add(eventId)) {
    return refuse('invalid_value', 'event_id: was used before in this connection.', 'event_id', eventId);
  }
  const validate = validators.get(type);
  if (validate === undefined) {
    const known = [...validators.keys()].join(', ');
    return refuse('invalid_event', `type: must be one of ${known}.`, 'type', eventId);
  }
  const problem = fieldProblem(validate, value);
  if (problem === undefined) return { event: value as ClientEvent };
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

/** Settings that the legacy models lack. */
const newer = ['speech_rate', 'volume', 'pitch_rate', 'bit_rate'] as const;

/** What the contract's schema cannot say about the settings, because it depends on the model. */
export function sessionProblem(
  model: CatalogueModel,
  session: SessionUpdate['session'] & { model?: unknown },
): SessionProblem | undefined {
  if (session.model !== undefined && session.model !== model.id) {
    return problem('model', `is ${model.id} for this connection; another model needs another connection.`);
  }
  if (model.family === 'alpha-legacy') {
    const { response_format: format = 'pcm', sample_rate: rate = 24_000 } = session;
    if (format !== 'pcm') return problem('response_format', 'this model takes only pcm.');
    if (rate !== 24_000) return problem('sample_rate', 'this model takes only 24000.');
    const extra = newer.find((name) => session[name] !== undefined);
    if (extra !== undefined) return problem(extra, 'this model does not take it.');
  }
  if (model.instruct !== true) {
    const extra = session.instructions !== undefined ? 'instructions' : 'optimize_instructions';
    if (session.instructions !== undefined || session.optimize_instructions === true)
      return problem(extra, 'only instruct models take it.');
  }
  if (model.voices !== 'system' && systemVoices(model).some(({ id }) => id === session.voice)) {
    const kind = model.voices ?? 'custom';
    return problem(
      'voice',
      `this model takes no system voice such as ${quoted(session.voice)}, only a ${kind} one.`,
    );
  }
  return undefined;
}

function problem(field: string, message: string): SessionProblem {
  return { code: 'invalid_value', message: `session.${field}: ${message}`, param: `session.${field}` };
}
