import {
  type EventValidator,
  validateContinueTask,
  validateFinishTask,
  validateRunTask,
} from '../../generated/event-validators.js';
import type { ContinueTask, FinishTask, RunTask } from '../../generated/events.ts';
import { fieldProblem } from '../sockets/field-problem.ts';
import { inner, parseObject } from '../sockets/frames.ts';
import type { Action } from './states.ts';

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
