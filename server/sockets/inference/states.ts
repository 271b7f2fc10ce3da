import {
  type EventValidator,
  validateContinueTask,
  validateFinishTask,
  validateRunTask,
} from '../../../generated/event-validators.js';
import type { ContinueTask, FinishTask, RunTask } from '../../../generated/events.ts';
import { fieldProblem, inner, parseObject } from '../frames.ts';

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

export type TaskFrame =
  | { action: 'run-task'; frame: RunTask }
  | { action: 'continue-task'; frame: ContinueTask }
  | { action: 'finish-task'; frame: FinishTask };

type AnyFrame = TaskFrame['frame'];

const validators: ReadonlyMap<unknown, EventValidator<AnyFrame>> = new Map<Action, EventValidator<AnyFrame>>([
  ['run-task', validateRunTask],
  ['continue-task', validateContinueTask],
  ['finish-task', validateFinishTask],
]);

const taskId = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/**
 * A client's text frame as one of the three, or what is wrong with it and the task it names. No `taskId` means
 * that the frame names no task.
 */
export function readTaskFrame(text: string): TaskFrame | { problem: string; taskId: string | undefined } {
  const value = parseObject(text);
  if (value === undefined) return { problem: 'The frame is not a JSON object.', taskId: undefined };
  const { action, task_id: id } = inner(value, 'header');
  const named = typeof id === 'string' && taskId.test(id) ? id : undefined;
  const validate = validators.get(action);
  if (validate === undefined) {
    const known = [...validators.keys()].join(', ');
    return { problem: `header.action: must be one of ${known}.`, taskId: named };
  }
  const problem = fieldProblem(validate, value);
  if (problem === undefined) return { action, frame: value } as unknown as TaskFrame;
  return { problem: `${problem.field}: ${problem.message}`, taskId: named };
}
