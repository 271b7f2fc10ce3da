import { describe, expect, test } from 'vitest';
import {
  actions,
  movingTaskEvents,
  type TaskState,
  taskEventMoves,
  taskMoves,
  taskStates,
} from '../../server/inference/states.ts';

/** One row a state: run, continue, finish; `!` is out of order. */
const client = {
  idle: ['starting', '!', '!'],
  starting: ['!', '!', '!'],
  running: ['!', 'running', 'finishing'],
  finishing: ['!', '!', '!'],
  closed: ['!', '!', '!'],
} as const;

/** One row a state: started, finished, failed. */
const server = {
  idle: ['idle', 'idle', 'idle'],
  starting: ['running', 'idle', 'closed'],
  running: ['running', 'idle', 'closed'],
  finishing: ['finishing', 'idle', 'closed'],
  closed: ['closed', 'closed', 'closed'],
} as const;

const cases = (grid: Record<TaskState, readonly string[]>, names: readonly string[]) =>
  taskStates.flatMap((state) => names.map((name, index) => [state, name, grid[state][index] ?? ''] as const));

describe('duplex socket', () => {
  test.each(cases(client, actions))('%s, client %s: %s', (state, action, expected) => {
    const move = taskMoves[state][action as (typeof actions)[number]];
    expect('refused' in move ? '!' : move.next).toBe(expected);
  });

  test.each(cases(server, movingTaskEvents))('%s, server %s: %s', (state, event, expected) => {
    expect(taskEventMoves[state][event as (typeof movingTaskEvents)[number]] ?? state).toBe(expected);
  });

  test('there is no other state, action or event', () => {
    expect(Object.keys(taskMoves)).toEqual([...taskStates]);
    for (const state of taskStates) {
      expect(Object.keys(taskMoves[state])).toEqual([...actions]);
      for (const event of Object.keys(taskEventMoves[state])) expect(movingTaskEvents).toContain(event);
    }
  });
});
