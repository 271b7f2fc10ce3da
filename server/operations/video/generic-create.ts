import type { OperationId } from '../../../generated/operations.ts';
import { linkAssets } from '../../calls/assets/asset-links.ts';
import { startTask } from '../../calls/start-task.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { unsupportedOption, type VideoFamily } from '../../models/video-options.ts';
import { linksFor } from '../../providers/client-links.ts';
import { etaFromGeneric } from '../../providers/eta/video-request.ts';
import { gammaFromGeneric } from '../../providers/native/video-request.ts';
import { seedanceFromGeneric } from '../../providers/official/video-request.ts';
import type { GenericVideoRequest, TranslatedVideo } from '../../providers/video.ts';
import { renderVideoTask, type VideoTask } from '../../providers/video-task.ts';
import { findTaskModel, type TaskModel, type TaskProtocol } from '../../tasks/task-model.ts';

type VideoProtocol = Extract<TaskProtocol, 'native_video' | 'official' | 'eta'>;
type Translate = (model: TaskModel, request: GenericVideoRequest) => TranslatedVideo;

const families: ReadonlyMap<TaskProtocol, { family: VideoFamily; translate: Translate }> = new Map<
  VideoProtocol,
  { family: VideoFamily; translate: Translate }
>([
  ['native_video', { family: 'gamma', translate: gammaFromGeneric }],
  ['official', { family: 'seedance', translate: seedanceFromGeneric }],
  ['eta', { family: 'eta', translate: etaFromGeneric }],
]);

/** Both generic routes: they differ in where the task can be read. Gives the new task as its poll shows it. */
export async function createInFormat(
  request: OperationRequest<OperationId>,
  operation: 'createVideo' | 'createGenericVideo',
  body: GenericVideoRequest,
): Promise<VideoTask> {
  const model = findTaskModel(request.gateway, request.caller, body.model, [...families.keys()]);
  const served = families.get(model.protocol);
  if (served === undefined) throw new Error(`nothing translates to ${model.protocol}`);
  const failure = unsupportedOption(served.family, model.id, body);
  if (failure !== undefined) throw failure;
  const format = operation === 'createVideo' ? 'videos' : 'generic';
  if (served.family === 'seedance' || hasNativeMedia(body)) {
    const task = await startTask(request, operation, { model, format, ...served.translate(model, body) });
    return renderVideoTask(task, linksFor(request));
  }
  const { body: linked, publicIds } = await linkAssets(request, body);
  const task = await startTask(request, operation, {
    model,
    format,
    ...served.translate(model, linked),
    publicIds,
    // A link changes when it is renewed, and a repeat of the request must still be known.
    ...(linked !== body && { clientRequest: body }),
  });
  return renderVideoTask(task, linksFor(request));
}

/** Whether native media replace the media fields, which are then not read. */
function hasNativeMedia({ metadata }: GenericVideoRequest): boolean {
  return (metadata?.['input.media'] ?? []).length > 0 || (metadata?.input?.media ?? []).length > 0;
}
