import { readTask } from '../../calls/read-task.ts';
import { sendFile } from '../../calls/send-file.ts';
import type { Handler } from '../../http/handler.ts';
import { invalid, notFound } from '../../lib/failure.ts';
import { wasSent } from '../../media/sent-urls.ts';
import { videoResult } from '../../providers/video-task.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

type Variant = 'video' | 'thumbnail';

/** The media types of the contract by file extension. */
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
/** The type of a file if neither the provider nor the file extension specifies it. */
const defaultTypes: Readonly<Record<Variant, string>> = { video: 'video/mp4', thumbnail: 'image/png' };

/** Forwards the provider's file or a range of it, so that the client does not learn its URL. */
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
    typeFor: (reported) => mediaTypeOf(variant, reported, url),
  });
};

/** Returns the file's URL. @throws Failure 400 before the task is completed, 404 without such a file or after its expiry */
function fileOf(task: TaskRecord, variant: Variant, now: number): string {
  const { state, expiresAt } = task;
  if (state === 'failed') throw notFound('task_id', 'the task has failed and made no file.');
  if (state !== 'completed')
    throw invalid('task_id', 'the task has no file yet; poll it until it has.', 'task_not_completed');
  if (expiresAt !== null && expiresAt <= now)
    throw notFound('task_id', 'the file is not available any more.');
  const { source_url, video_url, metadata } = videoResult(task);
  const url = variant === 'video' ? (source_url ?? video_url) : metadata?.last_frame_url;
  if (url === undefined) throw notFound('task_id', `the task has no ${variant}.`);
  return url;
}

function mediaTypeOf(variant: Variant, reported: string, url: string): string {
  const known = mediaTypes[variant];
  if ([...known.values()].includes(reported)) return reported;
  const extension = URL.parse(url)?.pathname.split('.').at(-1)?.toLowerCase() ?? '';
  return known.get(extension) ?? defaultTypes[variant];
}
