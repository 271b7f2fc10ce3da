import type { OperationId } from '../../generated/operations.ts';
import { invalid } from '../failure.ts';
import { renderVideoTask, type VideoTask } from '../formats/generic.ts';
import { linksFor } from '../formats/links-for.ts';
import type { OperationRequest } from '../http/handler.ts';
import { etaFromGeneric } from '../providers/eta/video-request.ts';
import { gammaFromGeneric } from '../providers/native/video-request.ts';
import { seedanceFromGeneric } from '../providers/official/video-request.ts';
import type { GenericVideoRequest, TranslatedVideo } from '../providers/video.ts';
import { findTaskModel, type TaskModel, type TaskProtocol } from '../tasks/task-model.ts';
import { startTask } from './start-task.ts';

type VideoProtocol = Extract<TaskProtocol, 'native_video' | 'official' | 'eta'>;
type Translate = (model: TaskModel, request: GenericVideoRequest) => TranslatedVideo;

const translations: ReadonlyMap<TaskProtocol, Translate> = new Map<VideoProtocol, Translate>([
  ['native_video', gammaFromGeneric],
  ['official', seedanceFromGeneric],
  ['eta', etaFromGeneric],
]);

/** Both generic routes: they differ in where the task can be read. Gives the new task as its poll shows it. */
export async function createInFormat(
  request: OperationRequest<OperationId>,
  operation: 'createVideo' | 'createGenericVideo',
  body: GenericVideoRequest,
): Promise<VideoTask> {
  const model = findTaskModel(request.gateway, request.caller, body.model, [...translations.keys()]);
  const translate = translations.get(model.protocol);
  if (translate === undefined) throw new Error(`nothing translates to ${model.protocol}`);
  // Accepted and never called, it would keep its owner waiting for ever.
  if (model.protocol !== 'official' && body.metadata?.callback_url !== undefined)
    throw invalid('metadata.callback_url', `${model.id} calls nobody back; poll the task instead.`);
  const format = operation === 'createVideo' ? 'videos' : 'generic';
  const task = await startTask(request, operation, { model, format, ...translate(model, body) });
  return renderVideoTask(task, linksFor(request));
}
