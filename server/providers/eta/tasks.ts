import type { TaskError } from '../../lib/failure.ts';
import {
  type AcceptedTask,
  type Snapshot,
  type TaskDriver,
  taskExpired,
  type Upstream,
} from '../../tasks/driver.ts';
import { askForTask, badAnswer, pollForTask } from '../ask-for-task.ts';
import { field, idField, numberField, textField } from '../json.ts';
import { reportedError } from '../public-ids.ts';
import type { VideoResult } from '../video.ts';

const failed: TaskError = { code: 'video_generation_failed', message: 'The provider made no video.' };
const moderated: TaskError = { code: 'content_moderated', message: 'The video was held back by moderation.' };

/** Video tasks in the eta protocol: generations and edits, and one poll for both. */
export const etaDriver: TaskDriver = {
  async submit(task, request, upstream) {
    const action = field(request, 'video') === undefined ? 'generations' : 'edits';
    const model = upstream.channel.upstreamModel(task.model);
    const answer = await askForTask(upstream, {
      method: 'POST',
      path: `/v1/videos/${action}`,
      body: { ...request, model },
    });
    const upstreamId = idField(answer, 'request_id');
    // Errors have such an id, too.
    const failed = field(answer, 'error') ?? field(answer, 'code');
    if (upstreamId === undefined || failed !== undefined) throw badAnswer();
    return { upstreamId };
  },

  poll(task, upstream) {
    const path = `/v1/videos/${encodeURIComponent(task.upstreamId)}`;
    return pollForTask(upstream, path, (answer) => snapshot(task, answer, upstream));
  },
};

/** What an answer says. An answer of 202 is empty, and a finished task may come without a status. */
function snapshot(task: AcceptedTask, answer: unknown, { channel }: Upstream): Snapshot {
  const status = field(answer, 'status');
  const video = field(answer, 'video');
  const url = textField(video, 'url');
  if (status === 'expired') return { state: 'failed', error: taskExpired };
  if (status === 'failed')
    return { state: 'failed', error: reportedError(task, channel, field(answer, 'error'), failed) };
  if (url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)) {
    const seconds = positive(numberField(video, 'duration'));
    const result = resultOf(task, url, seconds, channel.settings.customDomains ?? []);
    return { state: 'completed', result: { ...result }, ...(seconds && { usage: { units: seconds } }) };
  }
  if (field(video, 'respect_moderation') === false) return { state: 'failed', error: moderated };
  if (status === 'done') return { state: 'failed', error: failed };
  const progress = numberField(answer, 'progress') ?? 0;
  const begun = progress > 0 || task.state === 'in_progress';
  return { state: begun ? 'in_progress' : 'queued', progress };
}

/** The video's address under the host name that the client asked for, where the operator vouches for that name. */
function resultOf(
  { facts }: AcceptedTask,
  url: string,
  seconds: number | undefined,
  domains: readonly string[],
): VideoResult {
  const metadata = seconds === undefined ? {} : { metadata: { duration: seconds } };
  const domain = textField(facts, 'custom_domain')?.toLowerCase();
  if (domain === undefined || !domains.some((one) => one.toLowerCase() === domain))
    return { video_url: url, ...metadata };
  const shown = new URL(url);
  shown.host = domain;
  shown.port = '';
  return { video_url: shown.href, source_url: url, ...metadata };
}

function positive(number: number | undefined): number | undefined {
  return number !== undefined && number > 0 ? number : undefined;
}
