import type { OperationRequest } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { channelUnavailable, Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import { songsOf } from '../../providers/sigma/music.ts';
import { findClips } from '../../store/queries/clips.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { reportDriverError, type Upstream } from '../../tasks/driver.ts';

/**
 * Asks the provider that has the caller's song about it. Gives what it told, and the task of the song.
 *
 * @throws Failure 404 for every other id, 409 while the song is not complete, 502, 503 or 504 when the provider cannot
 *   be asked
 */
export async function askAboutSong<T>(
  { gateway, caller, path, signal }: OperationRequest<'getClipWav' | 'getClipTiming'>,
  ask: (upstream: Upstream, upstreamId: string) => Promise<T>,
): Promise<{ told: T; task: TaskRecord }> {
  const { userId } = caller;
  const id = path.clip_id;
  const [clip] = await findClips(gateway.store.read, { ids: [id], ...viewerOf(caller) });
  const task = clip && (await gateway.tasks.read({ id: clip.taskId, ...viewerOf(caller), format: 'music' }));
  const song = task && songsOf(task).find((one) => one.id === id);
  if (clip === undefined || task === undefined || song === undefined || song.status === 'error')
    throw unknownSong(id);
  if (song.status !== 'complete') throw notReady();
  const channel = gateway.channels.named(clip.channel);
  if (channel === undefined)
    throw channelUnavailable(`The provider that has ${quoted(id)} is not available.`);
  const attempt = channel.health.startAttempt({ user: userId, poll: true });
  try {
    const told = await ask({ channel, user: userId, signal }, clip.upstreamId);
    attempt.succeed();
    return { told, task };
  } catch (error) {
    signal.throwIfAborted();
    const words = 'a song could not be asked about';
    const { failure } = reportDriverError(gateway.logger, error, { channel, attempt }, words, {
      task: task.id,
    });
    const { upstreamId, upstreamTaskId } = clip;
    throw failureWithPublicIds(failure, { [upstreamId]: id, [upstreamTaskId]: task.id });
  }
}

/** Whether somebody else has it is not said. */
export function unknownSong(id: string): Failure {
  return new Failure(404, 'resource_not_found', `clip_id: there is no song ${quoted(id)} here.`);
}

export function notReady(): Failure {
  return new Failure(
    409,
    'resource_not_ready',
    'clip_id: the song is not complete yet; poll its task until it is.',
  );
}
