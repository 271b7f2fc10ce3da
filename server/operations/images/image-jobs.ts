import { startTask, type TaskSource } from '../../calls/start-task.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { ImageFacts } from '../../providers/imgjob/image-job.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { findTaskModel, type TaskModel } from '../../tasks/task-model.ts';

/** What image jobs are billed under. */
const modelId = 'imgjob_image';

/** @throws Failure 403 when the caller may not make image jobs */
export function imageModel({
  gateway,
  caller,
}: OperationRequest<'submitImagine' | 'submitImageAction'>): TaskModel {
  return findTaskModel(gateway, caller, modelId, ['imgjob']);
}

interface ImageOrder {
  model: TaskModel;
  /** The upstream's body. */
  body: Readonly<Record<string, unknown>>;
  facts: ImageFacts;
  notifyHook: string | undefined;
  source?: TaskSource;
  /** The client's own body, where the source may be gone when it comes again. */
  clientRequest?: object;
}

/** Makes an image job, which costs one action. @throws Failure as `startTask` does */
export function startImageJob(
  request: OperationRequest<'submitImagine' | 'submitImageAction'>,
  operation: 'submitImagine' | 'submitImageAction',
  { facts, notifyHook, ...order }: ImageOrder,
): Promise<TaskRecord> {
  return startTask(request, operation, {
    ...order,
    format: 'image',
    facts: { ...facts },
    expectedUnits: 1,
    ...(notifyHook !== undefined && { callbackUrl: notifyHook }),
  });
}

/**
 * The caller's image job as it is now; a short time is spent on asking its provider.
 *
 * @throws Failure 404 for every other id, naming `field`
 */
export async function readImageJob(
  { gateway, caller }: Pick<OperationRequest<'fetchImageJob'>, 'gateway' | 'caller'>,
  id: string,
  field: 'id' | 'taskId',
): Promise<TaskRecord> {
  const task = await gateway.tasks.read({ id, ...viewerOf(caller), format: 'image' });
  if (task !== undefined) return task;
  throw new Failure(404, 'resource_not_found', `${field}: there is no image job ${quoted(id)} here.`);
}
