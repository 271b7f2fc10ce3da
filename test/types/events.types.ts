// Event types narrow by their tag, and a missing case is a compile error. Nothing here runs: `tsc` checks it.
import { validateRealtimeClientEvent, validateSessionUpdate } from '../../generated/event-validators.js';
import type {
  InferenceClientEvent,
  MessagesStreamServerEvent,
  RealtimeClientEvent,
  RealtimeServerEvent,
  RunTask,
  SessionUpdate,
} from '../../generated/events.ts';
import type { Equal, Expect } from './equal.types.ts';

const unreachable = (event: never): never => {
  throw new Error(`unexpected event ${JSON.stringify(event)}`);
};

/** Every server event has a case, so the rest is `never`. */
export function describe(event: RealtimeServerEvent): string {
  switch (event.type) {
    case 'response.audio.delta':
      return event.delta;
    case 'response.done':
      return event.response.id;
    case 'error':
      return event.error.message;
    case 'session.created':
    case 'session.updated':
      return event.session.voice ?? '';
    case 'session.finished':
    case 'input_text_buffer.committed':
    case 'input_text_buffer.cleared':
    case 'response.created':
    case 'response.output_item.added':
    case 'response.content_part.added':
    case 'response.audio.done':
    case 'response.content_part.done':
    case 'response.output_item.done':
      return event.type;
    default:
      return unreachable(event);
  }
}

/** Without a case for `session.finish`, the rest is not `never`. */
export function incomplete(event: RealtimeClientEvent): string {
  switch (event.type) {
    case 'session.update':
    case 'input_text_buffer.append':
    case 'input_text_buffer.commit':
    case 'input_text_buffer.clear':
    case 'response.cancel':
      return event.type;
    default:
      // @ts-expect-error session.finish has no case
      return unreachable(event);
  }
}

export function handlers(): { [Event in RealtimeClientEvent as Event['type']]: (event: Event) => void } {
  // @ts-expect-error five handlers are missing
  return { 'session.update': (event) => void event.session };
}

/** The tag of the duplex socket is nested. Its values are still a closed list. */
export type Actions = Expect<
  Equal<InferenceClientEvent['header']['action'], 'run-task' | 'continue-task' | 'finish-task'>
>;
export type Task = Expect<Equal<Extract<InferenceClientEvent, { header: { action: 'run-task' } }>, RunTask>>;

export type StreamTypes = Expect<'message_start' extends MessagesStreamServerEvent['type'] ? true : false>;

/** A validator narrows a received value. */
export function narrowed(data: unknown): SessionUpdate | RealtimeClientEvent | string | undefined {
  if (validateSessionUpdate(data)) return data;
  if (validateRealtimeClientEvent(data)) return data;
  return validateRealtimeClientEvent.errors?.[0]?.message;
}

// @ts-expect-error text is required
export const event: RealtimeClientEvent = { type: 'input_text_buffer.append', event_id: 'event_1' };
