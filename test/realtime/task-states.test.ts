import { describe, expect, test } from 'vitest';
import {
  actions,
  movingTaskEvents,
  readTaskFrame,
  type TaskState,
  taskEventMoves,
  taskMoves,
  taskStates,
} from '../../server/sockets/inference/states.ts';

/** One row for each state: run, continue, finish. `!` is out of order. */
const client = {
  idle: ['starting', '!', '!'],
  starting: ['!', '!', '!'],
  running: ['!', 'running', 'finishing'],
  finishing: ['!', '!', '!'],
  closed: ['!', '!', '!'],
} as const;

/** One row for each state: started, finished, failed. */
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

  test.each([
    ['idle', 'continue-task', 'no task is running; send run-task first.'],
    ['starting', 'continue-task', 'wait for task-started.'],
    ['running', 'run-task', 'another task is running; wait for task-finished.'],
    ['finishing', 'finish-task', 'the task is finishing.'],
  ] as const)('%s, client %s: the refusal states the reason', (state, action, refused) => {
    expect(taskMoves[state][action]).toEqual({ refused });
  });

  test('there is no other state, action or event', () => {
    expect(Object.keys(taskMoves)).toEqual([...taskStates]);
    for (const state of taskStates) {
      expect(Object.keys(taskMoves[state])).toEqual([...actions]);
      for (const event of Object.keys(taskEventMoves[state])) expect(movingTaskEvents).toContain(event);
    }
  });
});

describe('a client frame', () => {
  const id = '2bf83b9a-baeb-4fda-8d9a-0123456789ab';
  const header = { action: 'finish-task', task_id: id, streaming: 'duplex' };
  const finish = { header, payload: { input: {} } };
  const run = {
    header: { ...header, action: 'run-task' },
    payload: {
      task_group: 'audio',
      task: 'tts',
      function: 'SpeechSynthesizer',
      parameters: { text_type: 'PlainText', voice: 'v1' },
      input: {},
    },
  };
  const more = {
    header: { ...header, action: 'continue-task' },
    payload: { ...finish.payload, input: { text: 'a' } },
  };

  test.each([run, more, finish])('is read by its action: $header.action', (frame) => {
    expect(readTaskFrame(JSON.stringify(frame))).toEqual({ action: frame.header.action, frame });
  });

  test.each(['', '[1]', 'null', '"finish-task"'])('%s is invalid', (text) => {
    expect(readTaskFrame(text)).toEqual({ problem: 'The frame is not a JSON object.', taskId: undefined });
  });

  const readWith = (change: object) =>
    readTaskFrame(JSON.stringify({ ...finish, header: { ...header, ...change } }));

  test('with an unknown action gets the list of actions', () => {
    const problem = 'header.action: must be one of run-task, continue-task, finish-task.';
    expect(readWith({ action: 'stop-task' })).toEqual({ problem, taskId: id });
    expect(readTaskFrame('{}')).toEqual({ problem, taskId: undefined });
  });

  test.each([id, id.replaceAll('-', ''), id.toUpperCase(), '2bf83b9abaeb-4fda8d9a0123456789ab'])(
    'that is invalid is refused with its task id, %s',
    (task_id) => {
      expect(readWith({ task_id, streaming: 'no' })).toEqual({
        problem: 'header.streaming: must be "duplex".',
        taskId: task_id,
      });
    },
  );

  test.each([
    undefined,
    7,
    [id],
    '',
    `${id}0`,
    `0${id}`,
    id.slice(1),
    ...[0, 9, 14, 19, 24].map((at) => `${id.slice(0, at)}g${id.slice(at + 1)}`),
    id.replace('-', '--'),
  ])('with the task id %j has no valid id', (task_id) => {
    expect(readWith({ task_id, action: 'x' })).toMatchObject({ taskId: undefined });
  });
});
