/** Codes that a failed task can have beside those of providers. */

/** Drivers use it as well, for an upstream that says that the task was canceled. */
export const taskCanceled = { code: 'task_canceled', message: 'The task was canceled before it began.' };

export const taskExpired = { code: 'task_expired', message: 'The task was not finished in time.' };

export const submissionInterrupted = {
  code: 'submission_interrupted',
  message: 'The service was interrupted before the provider had confirmed the task.',
};

export const submissionUnconfirmed = {
  code: 'submission_unconfirmed',
  message: 'The provider did not confirm the task in time.',
};

/** Codes of tasks that a provider may have although it is not known. */
export const outcomeUnknown: ReadonlySet<string> = new Set([
  submissionInterrupted.code,
  submissionUnconfirmed.code,
]);
