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
type Move = { readonly next: SessionState } | { readonly refused: Refusal };

type Refusal = keyof typeof refusals;

export const refusals = {
  not_ready: { code: 'session_not_ready', message: 'wait for session.updated' },
  empty_buffer: { code: 'empty_buffer', message: 'the buffer is empty' },
  synthesis_begun: { code: 'invalid_value', message: 'the settings cannot change after synthesis has begun' },
  finishing: { code: 'invalid_value', message: 'the session is finishing' },
} as const;

type Moves = Readonly<Record<ClientEventType, Move>>;

const to = (next: SessionState): Move => ({ next });
const no = (refused: Refusal): Move => ({ refused });

const moves = (state: SessionState, update: Move, append: Move, commit: Move, clear: Move): Moves => ({
  'session.update': update,
  'input_text_buffer.append': append,
  'input_text_buffer.commit': commit,
  'input_text_buffer.clear': clear,
  'response.cancel': to(state),
  'session.finish': to('finishing'),
});
const finishing = Object.fromEntries(clientEventTypes.map((type) => [type, no('finishing')])) as Moves;
const notReady = no('not_ready');
const emptyBuffer = no('empty_buffer');
const begun = no('synthesis_begun');

/**
 * The effect of each client event in each state: update, append, commit and clear. An append without text does not change
 * the state.
 */
export const clientMoves: Readonly<Record<SessionState, Moves>> = {
  connected: moves('connected', to('updating'), notReady, notReady, to('connected')),
  updating: moves('updating', to('updating'), notReady, notReady, to('updating')),
  configured: moves('configured', to('configured'), to('buffered'), emptyBuffer, to('configured')),
  buffered: moves('buffered', to('buffered'), to('buffered'), to('synthesizing'), to('configured')),
  synthesizing: moves('synthesizing', begun, to('synthesizing_more'), emptyBuffer, to('synthesizing')),
  synthesizing_more: moves(
    'synthesizing_more',
    begun,
    to('synthesizing_more'),
    to('synthesizing'),
    to('synthesizing'),
  ),
  idle: moves('idle', begun, to('buffered_again'), emptyBuffer, to('idle')),
  buffered_again: moves('buffered_again', begun, to('buffered_again'), to('synthesizing'), to('idle')),
  finishing,
  closed: finishing,
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
