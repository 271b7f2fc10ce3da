import { startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { nativeModel3dRequest } from '../../providers/native/model3d.ts';
import { submittedTask } from '../../providers/native/render-task.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/** Creates a 3D object from a text, an image or four views. Clients poll it on the native path. */
export const createModel3d: Handler<'createModel3d'> = async (request, reply) => {
  const task = await startTask(request, 'createModel3d', planModel3d(request));
  reply.json(200, submittedTask(task, request.requestId));
};

/** Translates a request. @throws Failure as `findTaskModel`, 400 that names the field */
export function planModel3d({ gateway, caller, body }: OperationRequest<'createModel3d'>): TaskPlan {
  const model = findTaskModel(gateway, caller, body.model, ['native_3d']);
  return { model, format: 'native', ...nativeModel3dRequest(body) };
}
