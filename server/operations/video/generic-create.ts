import type { OperationId } from '../../../generated/operations.ts';
import { linkAssets } from '../../calls/assets/asset-links.ts';
import { startTask, type TaskPlan } from '../../calls/start-task.ts';
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

/** Creates a video for one of the generic routes, which differ only in the path of the task. Returns the rendered task. */
export async function createInFormat(
  request: OperationRequest<OperationId>,
  operation: 'createVideo' | 'createGenericVideo',
  body: GenericVideoRequest,
): Promise<VideoTask> {
  const { family, plan } = orderVideo(request, operation, body);
  if (family === 'seedance' || hasNativeMedia(body)) {
    const task = await startTask(request, operation, plan(body));
    return renderVideoTask(task, linksFor(request));
  }
  const { body: linked, publicIds } = await linkAssets(request, body);
  const task = await startTask(request, operation, {
    ...plan(linked),
    publicIds,
    // Links change, so a repeat of the request is recognized by the client's own body.
    ...(linked !== body && { clientRequest: body }),
  });
  return renderVideoTask(task, linksFor(request));
}

/** The model of a generic request, and the translation for it. */
interface VideoOrder {
  family: VideoFamily;
  /** Returns the task of the request, whose assets may have been replaced with links. @throws Failure 400 that names the field */
  plan(body: GenericVideoRequest): TaskPlan;
}

/** Finds the model of a generic request. @throws Failure as `findTaskModel`, 400 for an option that the model does not have */
export function orderVideo(
  { gateway, caller }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller'>,
  operation: 'createVideo' | 'createGenericVideo',
  body: GenericVideoRequest,
): VideoOrder {
  const model = findTaskModel(gateway, caller, body.model, [...families.keys()]);
  const served = families.get(model.protocol);
  if (served === undefined) throw new Error(`no translation for ${model.protocol}`);
  const { family, translate } = served;
  const failure = unsupportedOption(family, model.id, body);
  if (failure !== undefined) throw failure;
  const format = operation === 'createVideo' ? 'videos' : 'generic';
  return { family, plan: (translated) => ({ model, format, ...translate(model, translated) }) };
}

/** Whether native media replace the media fields. */
function hasNativeMedia({ metadata }: GenericVideoRequest): boolean {
  return (metadata?.['input.media'] ?? []).length > 0 || (metadata?.input?.media ?? []).length > 0;
}
