/**
 * The moves of a duplex socket, as the gateway sees it.
 *
 * | state     | the provider has                                        |
 * |-----------|---------------------------------------------------------|
 * | idle      | no task; the first one, or the next one, may be started |
 * | starting  | been asked to run a task, and has not confirmed         |
 * | running   | a task that takes text                                  |
 * | finishing | been asked to finish                                    |
 * | closed    | failed, or is gone                                      |
 */
export const taskStates = ['idle', 'starting', 'running', 'finishing', 'closed'] as const;

export type TaskState = (typeof taskStates)[number];

export const actions = ['run-task', 'continue-task', 'finish-task'] as const;

export type Action = (typeof actions)[number];

export const movingTaskEvents = ['task-started', 'task-finished', 'task-failed'] as const;

export type MovingTaskEvent = (typeof movingTaskEvents)[number];

/** The frame goes on to the provider and the socket is in `next`, or the task fails with CLIENT_ERROR. */
export type TaskMove = { readonly next: TaskState } | { readonly refused: string };

const noTask: TaskMove = { refused: 'no task runs; send run-task first.' };
const tooEarly: TaskMove = { refused: 'wait for task-started.' };
const oneRuns: TaskMove = { refused: 'another task runs; wait for task-finished.' };
const ended: TaskMove = { refused: 'the task is finishing.' };

/** What each client frame does in each state. */
export const taskMoves: Readonly<Record<TaskState, Readonly<Record<Action, TaskMove>>>> = {
  idle: { 'run-task': { next: 'starting' }, 'continue-task': noTask, 'finish-task': noTask },
  starting: { 'run-task': oneRuns, 'continue-task': tooEarly, 'finish-task': tooEarly },
  running: {
    'run-task': oneRuns,
    'continue-task': { next: 'running' },
    'finish-task': { next: 'finishing' },
  },
  finishing: { 'run-task': oneRuns, 'continue-task': ended, 'finish-task': ended },
  closed: { 'run-task': ended, 'continue-task': ended, 'finish-task': ended },
};

/** Where a server event takes the socket; nothing listed means that it stays. */
export const taskEventMoves: Readonly<
  Record<TaskState, Readonly<Partial<Record<MovingTaskEvent, TaskState>>>>
> = {
  idle: {},
  starting: { 'task-started': 'running', 'task-finished': 'idle', 'task-failed': 'closed' },
  running: { 'task-finished': 'idle', 'task-failed': 'closed' },
  finishing: { 'task-finished': 'idle', 'task-failed': 'closed' },
  closed: {},
};
