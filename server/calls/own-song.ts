import type { OperationRequest } from '../http/handler.ts';
import { viewerOf } from '../keys/caller.ts';
import { channelUnavailable, Failure, notFound } from '../lib/failure.ts';
import { quoted } from '../models/catalogue.ts';
import { failureWithPublicIds } from '../providers/public-ids.ts';
import { songsOf } from '../providers/sigma/music.ts';
import { findClips } from '../store/queries/clips.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { reportDriverError, type Upstream } from '../tasks/driver.ts';

/**
 * Calls the provider that has the caller's song. Returns the result of `fetch` and the task of the song.
 *
 * @throws Failure 404 for every other id, 409 while the song is not complete, 502, 503 or 504 when the call fails
 */
export async function fetchAboutSong<Result>(
  { gateway, caller, path, signal }: OperationRequest<'getClipWav' | 'getClipTiming'>,
  fetch: (upstream: Upstream, upstreamId: string) => Promise<Result>,
): Promise<{ result: Result; task: TaskRecord }> {
  const { userId } = caller;
  const id = path.clip_id;
  const [clip] = await findClips(gateway.store.read, { ids: [id], ...viewerOf(caller) });
  const task = clip && (await gateway.tasks.read({ id: clip.taskId, ...viewerOf(caller), format: 'music' }));
  const song = task && songsOf(task).find((one) => one.id === id);
  if (clip === undefined || task === undefined || song === undefined || song.status === 'error')
    throw unknownSong(id);
  if (song.status !== 'complete') throw songNotReady();
  const channel = gateway.channels.named(clip.channel);
  if (channel === undefined)
    throw channelUnavailable(`The provider that has ${quoted(id)} is not available.`);
  const attempt = channel.health.startAttempt({ user: userId, poll: true });
  try {
    const result = await fetch({ channel, user: userId, signal }, clip.upstreamId);
    attempt.succeed();
    return { result, task };
  } catch (error) {
    signal.throwIfAborted();
    const candidate = { channel, attempt };
    const message = 'could not fetch details of a song';
    const { failure } = reportDriverError(gateway.logger, error, candidate, message, { task: task.id });
    const { upstreamId, upstreamTaskId } = clip;
    throw failureWithPublicIds(failure, { [upstreamId]: id, [upstreamTaskId]: task.id });
  }
}

/** Builds a 404, which does not reveal songs of other users. */
export const unknownSong = (id: string): Failure =>
  notFound('clip_id', `there is no song ${quoted(id)} here.`);

export function songNotReady(): Failure {
  const message = 'clip_id: the song is not complete yet; poll its task until it is.';
  return new Failure(409, 'resource_not_ready', message);
}
