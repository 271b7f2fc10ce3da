/**
 * States of a mocked realtime session. Speech is synchronous, so there is no state for it.
 *
 * | state          | meaning                                        |
 * |----------------|------------------------------------------------|
 * | connected      | no settings received                           |
 * | updating       | session.update received, confirmation pending  |
 * | configured     | settings confirmed, no text                    |
 * | buffered       | text buffered, no speech yet                   |
 * | idle           | all text spoken                                |
 * | buffered_again | text buffered after earlier speech             |
 */
export type RealtimeState = 'connected' | 'updating' | 'configured' | 'buffered' | 'idle' | 'buffered_again';

export type ClientEventType =
  | 'session.update'
  | 'input_text_buffer.append'
  | 'input_text_buffer.commit'
  | 'input_text_buffer.clear'
  | 'response.cancel'
  | 'session.finish';

/** An event leads to the next state, or to an error. */
export type RealtimeTransition = { next: RealtimeState } | { error: keyof typeof orderErrors };

/** Errors of events that are out of order. */
export const orderErrors = {
  not_ready: { code: 'session_not_ready', message: 'wait for session.updated.' },
  empty_buffer: { code: 'empty_buffer', message: 'the text buffer is empty.' },
  too_late: { code: 'invalid_value', message: 'the settings cannot change after synthesis has started.' },
} as const;

const transition = (next: RealtimeState): RealtimeTransition => ({ next });
const reject = (error: keyof typeof orderErrors): RealtimeTransition => ({ error });

/** Transition of each event in each state. `session.finish` ends the session in every state. */
export const realtimeTransitions: Readonly<
  Record<Exclude<ClientEventType, 'session.finish'>, Readonly<Record<RealtimeState, RealtimeTransition>>>
> = {
  'session.update': {
    connected: transition('updating'),
    updating: transition('updating'),
    configured: transition('configured'),
    buffered: transition('buffered'),
    idle: reject('too_late'),
    buffered_again: reject('too_late'),
  },
  'input_text_buffer.append': {
    connected: reject('not_ready'),
    updating: reject('not_ready'),
    configured: transition('buffered'),
    buffered: transition('buffered'),
    idle: transition('buffered_again'),
    buffered_again: transition('buffered_again'),
  },
  'input_text_buffer.commit': {
    connected: reject('not_ready'),
    updating: reject('not_ready'),
    configured: reject('empty_buffer'),
    buffered: transition('idle'),
    idle: reject('empty_buffer'),
    buffered_again: transition('idle'),
  },
  'input_text_buffer.clear': {
    connected: transition('connected'),
    updating: transition('updating'),
    configured: transition('configured'),
    buffered: transition('configured'),
    idle: transition('idle'),
    buffered_again: transition('idle'),
  },
  'response.cancel': {
    connected: transition('connected'),
    updating: transition('updating'),
    configured: transition('configured'),
    buffered: transition('buffered'),
    idle: transition('idle'),
    buffered_again: transition('buffered_again'),
  },
};

/** The server events of one response, in order. */
export const responseEvents = [
  'ResponseCreated',
  'ResponseOutputItemAdded',
  'ResponseContentPartAdded',
  'ResponseAudioDelta',
  'ResponseAudioDelta',
  'ResponseAudioDone',
  'ResponseContentPartDone',
  'ResponseOutputItemDone',
  'ResponseDone',
] as const;
