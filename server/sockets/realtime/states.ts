/**
 * The moves of a realtime session, as the gateway sees it. Text that waits and text that is spoken are kept apart,
 * because a commit of nothing and a late change of the settings are refused.
 *
 * | state              | the provider has                                              |
 * |--------------------|---------------------------------------------------------------|
 * | connected          | not been configured                                           |
 * | updating           | been configured, and has not confirmed                        |
 * | configured         | confirmed; no text yet                                        |
 * | buffered           | text that waits; nothing was ever spoken                      |
 * | synthesizing       | text to speak, and none that waits                            |
 * | synthesizing_more  | text to speak, and perhaps more that waits                    |
 * | idle               | spoken all                                                    |
 * | buffered_again     | spoken before, and perhaps text that waits                    |
 * | finishing          | been asked to finish                                          |
 * | closed             | finished, or is gone                                          |
 */
export const sessionStates = [
  'connected',
  'updating',
  'configured',
  'buffered',
  'synthesizing',
  'synthesizing_more',
  'idle',
  'buffered_again',
  'finishing',
  'closed',
] as const;

export type SessionState = (typeof sessionStates)[number];

export const clientEventTypes = [
  'session.update',
  'input_text_buffer.append',
  'input_text_buffer.commit',
  'input_text_buffer.clear',
  'response.cancel',
  'session.finish',
] as const;

export type ClientEventType = (typeof clientEventTypes)[number];

/** Server events that move the session; all others leave it where it is. */
export const movingServerEvents = [
  'session.updated',
  'response.created',
  'response.done',
  'session.finished',
  'error',
] as const;

export type MovingServerEvent = (typeof movingServerEvents)[number];

/** The event goes on to the provider and the session is in `next`, or it is answered with an error. */
export type Move = { readonly next: SessionState } | { readonly refused: Refusal };

export type Refusal = keyof typeof refusals;

/** Why an event is refused: the error code, and what is wrong. */
export const refusals = {
  too_early: { code: 'session_not_ready', message: 'wait for session.updated' },
  nothing_waits: { code: 'empty_buffer', message: 'the buffer is empty' },
  too_late: { code: 'invalid_value', message: 'the settings hold once synthesis has begun' },
  finished: { code: 'invalid_value', message: 'the session is finishing' },
} as const;

const to = (next: SessionState): Move => ({ next });
const no = (refused: Refusal): Move => ({ refused });
const all = (refused: Refusal): Moves => ({
  'session.update': no(refused),
  'input_text_buffer.append': no(refused),
  'input_text_buffer.commit': no(refused),
  'input_text_buffer.clear': no(refused),
  'response.cancel': no(refused),
  'session.finish': no(refused),
});

type Moves = Readonly<Record<ClientEventType, Move>>;

/** What each client event does in each state. An append without text stays where it is, wherever it may go. */
export const clientMoves: Readonly<Record<SessionState, Moves>> = {
  connected: {
    'session.update': to('updating'),
    'input_text_buffer.append': no('too_early'),
    'input_text_buffer.commit': no('too_early'),
    'input_text_buffer.clear': to('connected'),
    'response.cancel': to('connected'),
    'session.finish': to('finishing'),
  },
  updating: {
    'session.update': to('updating'),
    'input_text_buffer.append': no('too_early'),
    'input_text_buffer.commit': no('too_early'),
    'input_text_buffer.clear': to('updating'),
    'response.cancel': to('updating'),
    'session.finish': to('finishing'),
  },
  configured: {
    'session.update': to('configured'),
    'input_text_buffer.append': to('buffered'),
    'input_text_buffer.commit': no('nothing_waits'),
    'input_text_buffer.clear': to('configured'),
    'response.cancel': to('configured'),
    'session.finish': to('finishing'),
  },
  buffered: {
    'session.update': to('buffered'),
    'input_text_buffer.append': to('buffered'),
    'input_text_buffer.commit': to('synthesizing'),
    'input_text_buffer.clear': to('configured'),
    'response.cancel': to('buffered'),
    'session.finish': to('finishing'),
  },
  synthesizing: {
    'session.update': no('too_late'),
    'input_text_buffer.append': to('synthesizing_more'),
    'input_text_buffer.commit': no('nothing_waits'),
    'input_text_buffer.clear': to('synthesizing'),
    'response.cancel': to('synthesizing'),
    'session.finish': to('finishing'),
  },
  synthesizing_more: {
    'session.update': no('too_late'),
    'input_text_buffer.append': to('synthesizing_more'),
    'input_text_buffer.commit': to('synthesizing'),
    'input_text_buffer.clear': to('synthesizing'),
    'response.cancel': to('synthesizing_more'),
    'session.finish': to('finishing'),
  },
  idle: {
    'session.update': no('too_late'),
    'input_text_buffer.append': to('buffered_again'),
    'input_text_buffer.commit': no('nothing_waits'),
    'input_text_buffer.clear': to('idle'),
    'response.cancel': to('idle'),
    'session.finish': to('finishing'),
  },
  buffered_again: {
    'session.update': no('too_late'),
    'input_text_buffer.append': to('buffered_again'),
    'input_text_buffer.commit': to('synthesizing'),
    'input_text_buffer.clear': to('idle'),
    'response.cancel': to('buffered_again'),
    'session.finish': to('finishing'),
  },
  finishing: all('finished'),
  closed: all('finished'),
};

/**
 * Where a server event takes the session; nothing listed means that it stays. In mode server_commit the provider
 * takes as much text as it likes, so after a response began on its own there may be text left that waits. An error
 * may mean that a response will not come: nothing is waited for then.
 */
export const serverMoves: Readonly<
  Record<SessionState, Readonly<Partial<Record<MovingServerEvent, SessionState>>>>
> = {
  connected: { 'session.updated': 'configured', 'session.finished': 'closed' },
  updating: { 'session.updated': 'configured', 'session.finished': 'closed', error: 'connected' },
  configured: { 'response.created': 'synthesizing', 'session.finished': 'closed' },
  buffered: { 'response.created': 'synthesizing_more', 'session.finished': 'closed' },
  synthesizing: { 'response.done': 'idle', 'session.finished': 'closed', error: 'idle' },
  synthesizing_more: {
    'response.done': 'buffered_again',
    'session.finished': 'closed',
    error: 'buffered_again',
  },
  idle: { 'response.created': 'synthesizing', 'session.finished': 'closed' },
  buffered_again: { 'response.created': 'synthesizing_more', 'session.finished': 'closed' },
  finishing: { 'session.finished': 'closed' },
  closed: {},
};

/** States in which the provider owes an answer: its silence is its failure, not the client's idleness. */
export const owesAnswer: ReadonlySet<SessionState> = new Set([
  'updating',
  'synthesizing',
  'synthesizing_more',
  'finishing',
]);
