/**
 * The state machine of a realtime session. Buffered text and text in synthesis are distinct, because the gateway
 * refuses to commit an empty buffer or to change settings after synthesis has begun.
 *
 * | state              | the provider                                                  |
 * |--------------------|---------------------------------------------------------------|
 * | connected          | is not configured                                             |
 * | updating           | has not confirmed the settings                                |
 * | configured         | has confirmed the settings and has no text                    |
 * | buffered           | has text in the buffer, and has synthesized nothing           |
 * | synthesizing       | is synthesizing; the buffer is empty                          |
 * | synthesizing_more  | is synthesizing; the buffer may contain more text             |
 * | idle               | has synthesized all text                                      |
 * | buffered_again     | has synthesized before; the buffer may contain text           |
 * | finishing          | was requested to finish                                       |
 * | closed             | has finished or is disconnected                               |
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

/** Server events that can change the state. */
export const movingServerEvents = [
  'session.updated',
  'response.created',
  'response.done',
  'session.finished',
  'error',
] as const;

export type MovingServerEvent = (typeof movingServerEvents)[number];

/** The event is forwarded and changes the state to `next`, or it is refused with an error. */
export type Move = { readonly next: SessionState } | { readonly refused: Refusal };

export type Refusal = keyof typeof refusals;

export const refusals = {
  not_ready: { code: 'session_not_ready', message: 'wait for session.updated' },
  empty_buffer: { code: 'empty_buffer', message: 'the buffer is empty' },
  synthesis_begun: { code: 'invalid_value', message: 'the settings cannot change after synthesis has begun' },
  finishing: { code: 'invalid_value', message: 'the session is finishing' },
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

/** The effect of each client event in each state. An append without text does not change the state. */
export const clientMoves: Readonly<Record<SessionState, Moves>> = {
  connected: {
    'session.update': to('updating'),
    'input_text_buffer.append': no('not_ready'),
    'input_text_buffer.commit': no('not_ready'),
    'input_text_buffer.clear': to('connected'),
    'response.cancel': to('connected'),
    'session.finish': to('finishing'),
  },
  updating: {
    'session.update': to('updating'),
    'input_text_buffer.append': no('not_ready'),
    'input_text_buffer.commit': no('not_ready'),
    'input_text_buffer.clear': to('updating'),
    'response.cancel': to('updating'),
    'session.finish': to('finishing'),
  },
  configured: {
    'session.update': to('configured'),
    'input_text_buffer.append': to('buffered'),
    'input_text_buffer.commit': no('empty_buffer'),
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
    'session.update': no('synthesis_begun'),
    'input_text_buffer.append': to('synthesizing_more'),
    'input_text_buffer.commit': no('empty_buffer'),
    'input_text_buffer.clear': to('synthesizing'),
    'response.cancel': to('synthesizing'),
    'session.finish': to('finishing'),
  },
  synthesizing_more: {
    'session.update': no('synthesis_begun'),
    'input_text_buffer.append': to('synthesizing_more'),
    'input_text_buffer.commit': to('synthesizing'),
    'input_text_buffer.clear': to('synthesizing'),
    'response.cancel': to('synthesizing_more'),
    'session.finish': to('finishing'),
  },
  idle: {
    'session.update': no('synthesis_begun'),
    'input_text_buffer.append': to('buffered_again'),
    'input_text_buffer.commit': no('empty_buffer'),
    'input_text_buffer.clear': to('idle'),
    'response.cancel': to('idle'),
    'session.finish': to('finishing'),
  },
  buffered_again: {
    'session.update': no('synthesis_begun'),
    'input_text_buffer.append': to('buffered_again'),
    'input_text_buffer.commit': to('synthesizing'),
    'input_text_buffer.clear': to('idle'),
    'response.cancel': to('buffered_again'),
    'session.finish': to('finishing'),
  },
  finishing: all('finishing'),
  closed: all('finishing'),
};

/**
 * The next state after a server event. A missing entry leaves the state unchanged. In mode server_commit the provider
 * decides how much text a response uses, so the buffer may contain more. After an error no response is expected.
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

/** States in which an idle timeout is a failure of the provider. */
export const statesAwaitingProvider: ReadonlySet<SessionState> = new Set([
  'updating',
  'synthesizing',
  'synthesizing_more',
  'finishing',
]);
