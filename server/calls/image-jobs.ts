import type { OperationRequest } from '../http/handler.ts';
import { viewerOf } from '../keys/caller.ts';
import { notFound } from '../lib/failure.ts';
import { quoted } from '../models/catalogue.ts';
import type { ImageFacts } from '../providers/imgjob/image-job.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { findTaskModel, type TaskModel } from '../tasks/task-model.ts';
import { startTask, type TaskPlan } from './start-task.ts';

type ImageRequest = OperationRequest<'submitImagine' | 'submitImageAction'>;

/** Returns the model that image jobs are billed as. @throws Failure 403 when the caller may not create image jobs */
export function imageModel({ gateway, caller }: ImageRequest): TaskModel {
  return findTaskModel(gateway, caller, 'imgjob_image', ['imgjob']);
}

interface ImagePlan extends Pick<TaskPlan, 'model' | 'body' | 'source' | 'clientRequest'> {
  facts: ImageFacts;
  notifyHook: string | undefined;
}

/** Creates an image job, which costs one action. @throws Failure as `startTask` does */
export function startImageJob(
  request: ImageRequest,
  operation: 'submitImagine' | 'submitImageAction',
  { facts, notifyHook, ...plan }: ImagePlan,
): Promise<TaskRecord> {
  return startTask(request, operation, {
    ...plan,
    format: 'image',
    facts: { ...facts },
    ...priceOfAction(facts.action),
    ...(notifyHook !== undefined && { callbackUrl: notifyHook }),
  });
}

/** Returns the price of an image job: one action. */
export function priceOfAction(action: ImageFacts['action']): Pick<TaskPlan, 'expectedUnits' | 'priceFields'> {
  return { expectedUnits: 1, priceFields: { action } };
}

/** Reads the current state of the caller's image job. @throws Failure 404 for every other id, naming `field` */
export async function readImageJob(
  { gateway, caller }: Pick<OperationRequest<'fetchImageJob'>, 'gateway' | 'caller'>,
  id: string,
  field: 'id' | 'taskId',
): Promise<TaskRecord> {
  const task = await gateway.tasks.read({ id, ...viewerOf(caller), format: 'image' });
  if (task === undefined) throw notFound(field, `there is no image job ${quoted(id)} here.`);
  return task;
}
