export const nativePoll = '/api/v1/tasks/';

/** Returns the path to poll the task in a response. */
export function pollPath(path: string, body: unknown): string {
  const { id, output, result, data } = body as {
    id?: string;
    output?: { task_id: string };
    result?: string;
    data?: string;
  };
  if (result !== undefined) return `/imgjob/task/${result}/fetch`;
  if (data !== undefined) return `/sigma/fetch/${data}`;
  return output === undefined ? `${path}/${id}` : nativePoll + output.task_id;
}
