import { startTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { nativeModel3dRequest } from '../../providers/native/model3d.ts';
import { submittedTask } from '../../providers/native/render-task.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/** Creates a 3D object from a text, an image or four views. Clients poll it on the native path. */
export const createModel3d: Handler<'createModel3d'> = async (request, reply) => {
  const { gateway, caller, body, requestId } = request;
  const model = findTaskModel(gateway, caller, body.model, ['native_3d']);
  const plan = { model, format: 'native' as const, ...nativeModel3dRequest(body) };
  reply.json(200, submittedTask(await startTask(request, 'createModel3d', plan), requestId));
};
