import type { TaskError } from '../failure.ts';

/** Codes that a failed task can have beside those of providers. */

/** Drivers use it as well, for an upstream that says that the task was canceled. */
export const taskCanceled: TaskError = {
  code: 'task_canceled',
  message: 'The task was canceled before it began.',
};

export const taskExpired: TaskError = { code: 'task_expired', message: 'The task was not finished in time.' };

/** A provider may have the task although it is not known. */
export const submissionInterrupted: TaskError = {
  code: 'submission_interrupted',
  message: 'The service was interrupted before the provider had confirmed the task.',
};
