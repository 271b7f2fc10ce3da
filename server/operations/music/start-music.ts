import type { components } from '../../../generated/http.ts';
import { resolveClips } from '../../calls/assets/clip-references.ts';
import { findRepeatedTask, startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { sigmaMusic } from '../../providers/sigma/music-request.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

type Callback = Pick<TaskPlan, 'callbackUrl' | 'callbackField'>;

/** A song in either format. */
export interface MusicOrder extends Callback {
  song: components['schemas']['SubmitMusicRequest'];
  /** Prefix of the client's names of these fields, for messages. */
  prefix?: string;
}

/** Creates the task of a song, for either format. */
export async function startMusic(
  request: OperationRequest<'submitMusic' | 'createMusic'>,
  operation: 'submitMusic' | 'createMusic',
  { song, prefix, ...callback }: MusicOrder,
): Promise<TaskRecord> {
  const { body, ...plan } = planMusic(request, song);
  let resolved: Awaited<ReturnType<typeof resolveClips>>;
  try {
    resolved = await resolveClips(request, body, prefix);
  } catch (error) {
    const earlier = await findRepeatedTask(request, operation, plan);
    if (earlier === undefined) throw error;
    return earlier;
  }
  const own = resolved.source === undefined ? {} : { clientRequest: request.body };
  return startTask(request, operation, { ...plan, ...resolved, ...own, ...callback });
}

/** Translates the request of a song. @throws Failure as `findTaskModel` */
export function planMusic(
  { gateway, caller }: Pick<OperationRequest<'submitMusic'>, 'gateway' | 'caller'>,
  song: MusicOrder['song'],
): TaskPlan {
  const model = findTaskModel(gateway, caller, 'sigma_music', ['sigma']);
  return { model, format: 'music', ...sigmaMusic(song) };
}

/** Returns the URL for callbacks and the field that holds it. `callback_url` takes precedence over `notify_hook`. */
export function callbackOf(body: { callback_url?: string; notify_hook?: string }): Callback {
  const { callback_url, notify_hook } = body;
  if (callback_url !== undefined) return { callbackUrl: callback_url, callbackField: 'callback_url' };
  return notify_hook === undefined ? {} : { callbackUrl: notify_hook, callbackField: 'notify_hook' };
}

type SubmitRequest = OperationRequest<'submitMusic' | 'submitLyrics'>;

/** Whether the response is in format A, which depends on the prefix of the path. */
export function isFormatA({ route }: SubmitRequest): boolean {
  return route.startsWith('/sigma/v1/');
}

/** Returns the time since the start of the call, in seconds. */
export function executionTime({ gateway, startedAt }: SubmitRequest): number {
  return Math.round(gateway.timers.monotonic() - startedAt) / 1_000;
}
