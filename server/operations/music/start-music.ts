import type { components } from '../../../generated/http.ts';
import { resolveClips } from '../../calls/assets/clip-references.ts';
import { findRepeatedTask, startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { sigmaMusic } from '../../providers/sigma/music-request.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

interface MusicOrder extends Pick<TaskPlan, 'callbackUrl' | 'callbackField'> {
  request: components['schemas']['SubmitMusicRequest'];
  /** What stands before the names of its fields where the client has them. */
  prefix?: string;
}

/** Makes the task of a song, in whichever format it was asked for. */
export async function startMusic(
  request: OperationRequest<'submitMusic' | 'createMusic'>,
  operation: 'submitMusic' | 'createMusic',
  { request: asked, prefix, ...callback }: MusicOrder,
): Promise<TaskRecord> {
  const model = findTaskModel(request.gateway, request.caller, 'sigma_music', ['sigma']);
  const { body, ...plan } = sigmaMusic(asked);
  const made = { model, format: 'music' } as const;
  let resolved: Awaited<ReturnType<typeof resolveClips>>;
  try {
    resolved = await resolveClips(request, body, prefix);
  } catch (error) {
    const earlier = await findRepeatedTask(request, operation, made);
    if (earlier === undefined) throw error;
    return earlier;
  }
  const own = resolved.source === undefined ? {} : { clientRequest: request.body };
  return startTask(request, operation, { ...made, ...plan, ...resolved, ...own, ...callback });
}

/** The address for callbacks and the field that holds it: `callback_url` takes precedence over `notify_hook`. */
export function callbackOf({
  callback_url,
  notify_hook,
}: {
  callback_url?: string;
  notify_hook?: string;
}): Pick<TaskPlan, 'callbackUrl' | 'callbackField'> {
  if (callback_url !== undefined) return { callbackUrl: callback_url, callbackField: 'callback_url' };
  return notify_hook === undefined ? {} : { callbackUrl: notify_hook, callbackField: 'notify_hook' };
}

/** Whether the answer is to be in format A, which the prefix says. */
export function inFormatA({ route }: OperationRequest<'submitMusic' | 'submitLyrics'>): boolean {
  return route.startsWith('/sigma/v1/');
}

/** How long the call has taken so far, in seconds. */
export function executionTime({
  gateway,
  startedAt,
}: OperationRequest<'submitMusic' | 'submitLyrics'>): number {
  return Math.round(gateway.timers.monotonic() - startedAt) / 1_000;
}
