import { describe, expect, test } from 'vitest';
import {
  clientEventTypes,
  clientMoves,
  movingServerEvents,
  refusals,
  type SessionState,
  serverMoves,
  sessionStates,
  statesAwaitingProvider,
} from '../../server/sockets/realtime/states.ts';

/** One row for each state: update, append, commit, clear, cancel, finish. `!` marks an error code. */
const client = `
connected         | updating   | !session_not_ready | !session_not_ready | connected    | connected         | finishing
updating          | updating   | !session_not_ready | !session_not_ready | updating     | updating          | finishing
configured        | configured | buffered           | !empty_buffer      | configured   | configured        | finishing
buffered          | buffered   | buffered           | synthesizing       | configured   | buffered          | finishing
synthesizing      | !invalid_value | synthesizing_more | !empty_buffer   | synthesizing | synthesizing      | finishing
synthesizing_more | !invalid_value | synthesizing_more | synthesizing    | synthesizing | synthesizing_more | finishing
idle              | !invalid_value | buffered_again | !empty_buffer      | idle         | idle              | finishing
buffered_again    | !invalid_value | buffered_again | synthesizing       | idle         | buffered_again    | finishing
finishing         | !invalid_value | !invalid_value | !invalid_value | !invalid_value | !invalid_value | !invalid_value
closed            | !invalid_value | !invalid_value | !invalid_value | !invalid_value | !invalid_value | !invalid_value`;

/** One row for each state: updated, response.created, response.done, finished, error. */
const server = `
connected         | configured | connected         | connected      | closed | connected
updating          | configured | updating          | updating       | closed | connected
configured        | configured | synthesizing      | configured     | closed | configured
buffered          | buffered   | synthesizing_more | buffered       | closed | buffered
synthesizing      | synthesizing | synthesizing    | idle           | closed | idle
synthesizing_more | synthesizing_more | synthesizing_more | buffered_again | closed | buffered_again
idle              | idle       | synthesizing      | idle           | closed | idle
buffered_again    | buffered_again | synthesizing_more | buffered_again | closed | buffered_again
finishing         | finishing  | finishing         | finishing      | closed | finishing
closed            | closed     | closed            | closed         | closed | closed`;

const rows = (grid: string) =>
  grid
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

const clientCases = rows(client).flatMap(([state = '', ...cells]) =>
  cells.map((expected, index) => [state, clientEventTypes[index] ?? '', expected] as const),
);
const serverCases = rows(server).flatMap(([state = '', ...cells]) =>
  cells.map((expected, index) => [state, movingServerEvents[index] ?? '', expected] as const),
);

describe('realtime session', () => {
  test('the tables contain every state and every event', () => {
    expect(rows(client).map(([state]) => state)).toEqual([...sessionStates]);
    expect(rows(server).map(([state]) => state)).toEqual([...sessionStates]);
    expect(clientCases).toHaveLength(sessionStates.length * clientEventTypes.length);
    expect(serverCases).toHaveLength(sessionStates.length * movingServerEvents.length);
    for (const state of sessionStates) {
      expect(Object.keys(clientMoves[state])).toEqual([...clientEventTypes]);
    }
  });

  test.each(clientCases)('%s, client %s: %s', (state, type, expected) => {
    const move = clientMoves[state as SessionState][type as (typeof clientEventTypes)[number]];
    expect('refused' in move ? `!${refusals[move.refused].code}` : move.next).toBe(expected);
  });

  test.each(serverCases)('%s, server %s: %s', (state, type, expected) => {
    const next = serverMoves[state as SessionState][type as (typeof movingServerEvents)[number]];
    expect(next ?? state).toBe(expected);
  });

  test('a timeout is a failure of the provider in these states', () => {
    expect([...statesAwaitingProvider]).toEqual([
      'updating',
      'synthesizing',
      'synthesizing_more',
      'finishing',
    ]);
  });

  test('every state is reachable, and session.finished closes each', () => {
    const reached = new Set<SessionState>(['connected']);
    for (const state of reached) {
      for (const move of Object.values(clientMoves[state])) if ('next' in move) reached.add(move.next);
      for (const next of Object.values(serverMoves[state])) reached.add(next);
    }
    expect(reached).toEqual(new Set(sessionStates));
    for (const state of sessionStates.filter((one) => one !== 'closed'))
      expect(serverMoves[state]['session.finished']).toBe('closed');
  });
});
