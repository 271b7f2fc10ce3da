import { startTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { seedanceFromOfficial } from '../../providers/official/video-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/**
 * Creates a Seedance video from the official format. Clients poll it at
 * `/api/v3/contents/generations/tasks/{task_id}`.
 */
export const createOfficialVideo: Handler<'createOfficialVideo'> = async (request, reply) => {
  const { gateway, caller, body } = request;
  const model = findTaskModel(gateway, caller, body.model, ['official']);
  const plan = { model, format: 'official' as const, ...seedanceFromOfficial(model, body) };
  const { id } = await startTask(request, 'createOfficialVideo', plan);
  const { safety_identifier } = body;
  reply.json(200, { id, ...(safety_identifier !== undefined && { safety_identifier }) });
};
