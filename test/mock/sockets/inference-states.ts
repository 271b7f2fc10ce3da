/**
 * The moves of a mocked duplex socket. It finishes a task in one go, so that finishing is no state of its own.
 *
 * | state    | the socket                                    |
 * |----------|-----------------------------------------------|
 * | idle     | has no task                                   |
 * | starting | was told to run a task, and has not confirmed |
 * | running  | has a task that takes text                    |
 */
export type InferenceState = 'idle' | 'starting' | 'running';

export type Action = 'run-task' | 'continue-task' | 'finish-task';

/** Why a frame is out of order; undefined when it is in order. */
export const outOfOrder: Readonly<Record<Action, Readonly<Record<InferenceState, string | undefined>>>> = {
  'run-task': {
    idle: undefined,
    starting: 'another task runs; wait for task-finished.',
    running: 'another task runs; wait for task-finished.',
  },
  'continue-task': {
    idle: 'no task runs; send run-task first.',
    starting: 'wait for task-started.',
    running: undefined,
  },
  'finish-task': {
    idle: 'no task runs; send run-task first.',
    starting: 'wait for task-started.',
    running: undefined,
  },
};
