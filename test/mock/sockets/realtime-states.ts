/**
 * The moves of a mocked realtime session. It speaks in one go, so that synthesizing is no state of its own.
 *
 * | state          | the session                              |
 * |----------------|------------------------------------------|
 * | connected      | has not been told how to speak           |
 * | updating       | has been told, and has not confirmed     |
 * | configured     | has confirmed; no text yet               |
 * | buffered       | has text that waits; nothing was spoken  |
 * | idle           | has spoken all                           |
 * | buffered_again | has spoken before, and has text          |
 */
export type RealtimeState = 'connected' | 'updating' | 'configured' | 'buffered' | 'idle' | 'buffered_again';

export type ClientEventType =
  | 'session.update'
  | 'input_text_buffer.append'
  | 'input_text_buffer.commit'
  | 'input_text_buffer.clear'
  | 'response.cancel'
  | 'session.finish';

/** An event leads to the next state, or is refused. */
export type RealtimeMove = { next: RealtimeState } | { refused: keyof typeof refusals };

/** Error code and words of what is out of order. */
export const refusals = {
  too_early: { code: 'session_not_ready', message: 'wait for session.updated.' },
  nothing_waits: { code: 'empty_buffer', message: 'the text buffer is empty.' },
  too_late: { code: 'invalid_value', message: 'the settings hold once synthesis has begun.' },
} as const;

const to = (next: RealtimeState): RealtimeMove => ({ next });
const no = (refused: keyof typeof refusals): RealtimeMove => ({ refused });

/** What each event does in each state; in every state a finish ends the session. */
export const realtimeMoves: Readonly<
  Record<Exclude<ClientEventType, 'session.finish'>, Readonly<Record<RealtimeState, RealtimeMove>>>
> = {
  'session.update': {
    connected: to('updating'),
    updating: to('updating'),
    configured: to('configured'),
    buffered: to('buffered'),
    idle: no('too_late'),
    buffered_again: no('too_late'),
  },
  'input_text_buffer.append': {
    connected: no('too_early'),
    updating: no('too_early'),
    configured: to('buffered'),
    buffered: to('buffered'),
    idle: to('buffered_again'),
    buffered_again: to('buffered_again'),
  },
  'input_text_buffer.commit': {
    connected: no('too_early'),
    updating: no('too_early'),
    configured: no('nothing_waits'),
    buffered: to('idle'),
    idle: no('nothing_waits'),
    buffered_again: to('idle'),
  },
  'input_text_buffer.clear': {
    connected: to('connected'),
    updating: to('updating'),
    configured: to('configured'),
    buffered: to('configured'),
    idle: to('idle'),
    buffered_again: to('idle'),
  },
  'response.cancel': {
    connected: to('connected'),
    updating: to('updating'),
    configured: to('configured'),
    buffered: to('buffered'),
    idle: to('idle'),
    buffered_again: to('buffered_again'),
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
