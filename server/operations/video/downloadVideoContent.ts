import { readTask } from '../../calls/read-task.ts';
import { sendFile } from '../../calls/send-file.ts';
import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { wasSent } from '../../media/sent-urls.ts';
import { videoResult } from '../../providers/video-task.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

type Variant = 'video' | 'thumbnail';

/** The media types of the contract by the endings of file names. */
const mediaTypes: Readonly<Record<Variant, ReadonlyMap<string, string>>> = {
  video: new Map([
    ['mp4', 'video/mp4'],
    ['mov', 'video/quicktime'],
  ]),
  thumbnail: new Map([
    ['png', 'image/png'],
    ['jpg', 'image/jpeg'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/webp'],
  ]),
};
/** For a file that neither the provider nor its name tells the type of. */
const defaultTypes: Readonly<Record<Variant, string>> = { video: 'video/mp4', thumbnail: 'image/png' };

/** Passes the file on as the provider has it, whole or one range: its address is not the client's business. */
export const downloadVideoContent: Handler<'downloadVideoContent'> = async (request, reply) => {
  const { gateway, caller, query } = request;
  const variant = query.variant ?? 'video';
  const task = await readTask(request, 'videos', 'generic');
  const url = fileOf(task, variant, gateway.clock());
  await sendFile(request, reply, {
    field: 'task_id',
    url,
    channel: task.channel,
    user: caller.userId,
    publicOnly: wasSent(url, task.facts.sent_addresses),
    typeFor: (reported) => shownType(variant, reported, url),
  });
};

/** @throws Failure 400 before the task is completed, 404 when it has no such file or its time is over */
function fileOf(task: TaskRecord, variant: Variant, now: number): string {
  const { state, expiresAt } = task;
  if (state === 'failed') throw gone('the task has failed and made no file.');
  if (state !== 'completed')
    throw new Failure(400, 'task_not_completed', 'task_id: the task has no file yet; poll it until it has.');
  if (expiresAt !== null && expiresAt <= now) throw gone('the file is not available any more.');
  const { source_url, video_url, metadata } = videoResult(task);
  const url = variant === 'video' ? (source_url ?? video_url) : metadata?.last_frame_url;
  if (url === undefined) throw gone(`the task has no ${variant}.`);
  return url;
}

function gone(why: string): Failure {
  return new Failure(404, 'resource_not_found', `task_id: ${why}`);
}

function shownType(variant: Variant, reported: string, url: string): string {
  const known = mediaTypes[variant];
  if ([...known.values()].includes(reported)) return reported;
  const ending = URL.parse(url)?.pathname.split('.').at(-1)?.toLowerCase() ?? '';
  return known.get(ending) ?? defaultTypes[variant];
}
