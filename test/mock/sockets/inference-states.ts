/**
 * States of a mocked inference socket. A task finishes synchronously, so there is no state for it.
 *
 * | state    | meaning                                |
 * |----------|----------------------------------------|
 * | idle     | no task                                |
 * | starting | run-task received, task-started pending |
 * | running  | the task accepts text                  |
 */
export type InferenceState = 'idle' | 'starting' | 'running';

export type Action = 'run-task' | 'continue-task' | 'finish-task';

/** Error of each action in each state. Undefined: the action is allowed. */
export const orderErrors: Readonly<Record<Action, Readonly<Record<InferenceState, string | undefined>>>> = {
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
