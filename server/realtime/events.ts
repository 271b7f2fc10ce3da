import {
  type EventValidator,
  validateInputTextBufferAppend,
  validateInputTextBufferClear,
  validateInputTextBufferCommit,
  validateResponseCancel,
  validateSessionFinish,
  validateSessionUpdate,
} from '../../generated/event-validators.js';
import type {
  InputTextBufferAppend,
  InputTextBufferClear,
  InputTextBufferCommit,
  ResponseCancel,
  SessionFinish,
  SessionUpdate,
} from '../../generated/events.ts';
import { fieldProblem } from '../sockets/field-problem.ts';
import { parseObject } from '../sockets/frames.ts';
import type { SeenIds } from '../sockets/seen-ids.ts';
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
