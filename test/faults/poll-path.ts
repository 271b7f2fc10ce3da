export const nativePoll = '/api/v1/tasks/';

/** Where the task of an answer is to be polled. */
export function pollPath(path: string, answer: unknown): string {
  const { id, output, result, data } = answer as {
    id?: string;
    output?: { task_id: string };
    result?: string;
    data?: string;
  };
  if (result !== undefined) return `/imgjob/task/${result}/fetch`;
  if (data !== undefined) return `/sigma/fetch/${data}`;
  return output === undefined ? `${path}/${id}` : nativePoll + output.task_id;
}
