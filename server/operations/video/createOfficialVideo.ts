import { startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { seedanceFromOfficial } from '../../providers/official/video-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/**
 * Creates a Seedance video from the official format. Clients poll it at
 * `/api/v3/contents/generations/tasks/{task_id}`.
 */
export const createOfficialVideo: Handler<'createOfficialVideo'> = async (request, reply) => {
  const { id } = await startTask(request, 'createOfficialVideo', planOfficialVideo(request));
  const { safety_identifier } = request.body;
  reply.json(200, { id, ...(safety_identifier !== undefined && { safety_identifier }) });
};

/** Translates a request. @throws Failure as `findTaskModel`, 400 that names the field */
export function planOfficialVideo({
  gateway,
  caller,
  body,
}: OperationRequest<'createOfficialVideo'>): TaskPlan {
  const model = findTaskModel(gateway, caller, body.model, ['official']);
  return { model, format: 'official', ...seedanceFromOfficial(model, body) };
}
