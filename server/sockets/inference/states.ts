import {
  type EventValidator,
  validateContinueTask,
  validateFinishTask,
  validateRunTask,
} from '../../../generated/event-validators.js';
import type { ContinueTask, FinishTask, InferenceClientEvent, RunTask } from '../../../generated/events.ts';
import { fieldProblem, objectField, parseObject } from '../frames.ts';

/**
 * The state machine of a duplex socket.
 *
 * | state     | the provider                        |
 * |-----------|-------------------------------------|
 * | idle      | has no task                         |
 * | starting  | has not confirmed the task          |
 * | running   | accepts text for the task           |
 * | finishing | was requested to finish the task    |
 * | closed    | has failed or is disconnected       |
 */
export const taskStates = ['idle', 'starting', 'running', 'finishing', 'closed'] as const;

export type TaskState = (typeof taskStates)[number];

export const actions = ['run-task', 'continue-task', 'finish-task'] as const;

export type Action = (typeof actions)[number];

export const movingTaskEvents = ['task-started', 'task-finished', 'task-failed'] as const;

export type MovingTaskEvent = (typeof movingTaskEvents)[number];

/** The frame is forwarded and changes the state to `next`, or the task fails with CLIENT_ERROR. */
export type TaskMove = { readonly next: TaskState } | { readonly refused: string };

const noTask: TaskMove = { refused: 'no task is running; send run-task first.' };
const tooEarly: TaskMove = { refused: 'wait for task-started.' };
const taskRunning: TaskMove = { refused: 'another task is running; wait for task-finished.' };
const taskFinishing: TaskMove = { refused: 'the task is finishing.' };

/** The effect of each client frame in each state. */
export const taskMoves: Readonly<Record<TaskState, Readonly<Record<Action, TaskMove>>>> = {
  idle: { 'run-task': { next: 'starting' }, 'continue-task': noTask, 'finish-task': noTask },
  starting: { 'run-task': taskRunning, 'continue-task': tooEarly, 'finish-task': tooEarly },
  running: {
    'run-task': taskRunning,
    'continue-task': { next: 'running' },
    'finish-task': { next: 'finishing' },
  },
  finishing: { 'run-task': taskRunning, 'continue-task': taskFinishing, 'finish-task': taskFinishing },
  closed: { 'run-task': taskFinishing, 'continue-task': taskFinishing, 'finish-task': taskFinishing },
};

/** The next state after a server event. A missing entry leaves the state unchanged. */
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

const validators: ReadonlyMap<unknown, EventValidator<InferenceClientEvent>> = new Map<
  Action,
  EventValidator<InferenceClientEvent>
>([
  ['run-task', validateRunTask],
  ['continue-task', validateContinueTask],
  ['finish-task', validateFinishTask],
]);

const taskId = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Reads a task frame from a text frame. Returns a problem if it is invalid, with the task id if it has one. */
export function readTaskFrame(text: string): TaskFrame | { problem: string; taskId: string | undefined } {
  const value = parseObject(text);
  if (value === undefined) return { problem: 'The frame is not a JSON object.', taskId: undefined };
  const { action, task_id: id } = objectField(value, 'header');
  const validId = typeof id === 'string' && taskId.test(id) ? id : undefined;
  const validate = validators.get(action);
  if (validate === undefined) {
    const known = [...validators.keys()].join(', ');
    return { problem: `header.action: must be one of ${known}.`, taskId: validId };
  }
  const problem = fieldProblem(validate, value);
  if (problem === undefined) return { action, frame: value } as unknown as TaskFrame;
  return { problem: `${problem.field}: ${problem.message}`, taskId: validId };
}
