import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import { stateOfTask, type TaskName, taskKinds } from '../context/task-kinds.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { type HttpResponse, jsonOf } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';
import type { LongCheck } from './long-checks.ts';

/** A task of another format, for each operation that polls tasks. */
const foreignTasks: Partial<Record<OperationId, TaskName>> = {
  getVideo: 'native',
  getGenericVideo: 'official',
  getNativeTask: 'video',
  getOfficialVideo: 'generic',
  fetchMusicTask: 'image',
  getMusic: 'video',
  fetchImageJob: 'music',
};

/** The native protocol returns unknown tasks with a state of their own. */
const isUnknown = (response: HttpResponse) =>
  response.status === 200 && stateOfTask(jsonOf(response)) === 'UNKNOWN';

/** Checks that an operation does not return tasks of another format. */
export function foreignTaskChecks(operation: DocumentedOperation, context: RunContext): LongCheck[] {
  const foreign = foreignTasks[operation.id as OperationId];
  const parameter = operation.parameters.find((one) => one.in === 'path')?.name;
  if (foreign === undefined || parameter === undefined) return [];
  return [
    {
      name: `404 a task of ${taskKinds[foreign].create}`,
      run: async () => {
        const { id } = await context.fixtures.task(foreign);
        const { response, problems, curl } = await context.caller.send(context.target, operation, {
          path: { [parameter]: id },
        });
        return {
          problems:
            response.status === 404 || isUnknown(response)
              ? problems
              : [
                  `format: ${operation.id} returns ${response.status} for a task of ${taskKinds[foreign].create}: ${excerpt(response)}`,
                ],
          curl,
        };
      },
    },
  ];
}
