import type { TaskError } from '../../lib/failure.ts';
import { field, idField, numberBetween, numberField, textField } from '../../lib/json.ts';
import { type ProviderReport, taskExpired } from '../../tasks/driver.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { taskDriver } from '../task-request.ts';
import { countIn } from '../token-usage.ts';
import { type VideoResult, videoUsage } from '../video.ts';
import { videoReport } from '../video-report.ts';
import { possibleValues } from '../video-values.ts';

const failed: TaskError = { code: 'video_generation_failed', message: 'The provider made no video.' };
const moderated: TaskError = { code: 'content_moderated', message: 'The video was held back by moderation.' };

/** Video tasks in the eta protocol: generations and edits with a common poll. */
export const etaDriver = taskDriver({
  createPath: (request) => `/v1/videos/${field(request, 'video') === undefined ? 'generations' : 'edits'}`,

  readId(answer) {
    // Errors also have a request id.
    const error = field(answer, 'error') ?? field(answer, 'code');
    return error === undefined ? idField(answer, 'request_id') : undefined;
  },

  taskPath: ({ upstreamId }) => `/v1/videos/${encodeURIComponent(upstreamId)}`,

  /** A 202 is empty, and a finished task may have no status. */
  readTask(answer, task, channel) {
    const status = field(answer, 'status');
    const video = field(answer, 'video');
    const url = textField(video, 'url');
    if (status === 'expired') return { state: 'failed', error: taskExpired };
    if (status === 'failed')
      return { state: 'failed', error: taskErrorFrom(task, channel, field(answer, 'error'), failed) };
    if (url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)) {
      const seconds = numberBetween(video, 'duration', Number.MIN_VALUE);
      const outputTokens = countIn(field(answer, 'usage'), 'completion_tokens');
      const result = resultOf(task.facts, url, seconds, channel.settings.customDomains);
      const report = reportOf(answer, task.model);
      return { state: 'completed', result: { ...result }, ...videoUsage(seconds, outputTokens), ...report };
    }
    if (field(video, 'respect_moderation') === false) return { state: 'failed', error: moderated };
    if (status === 'done') return { state: 'failed', error: failed };
    const progress = numberField(answer, 'progress') ?? 0;
    const isStarted = progress > 0 || task.state === 'in_progress';
    return { state: isStarted ? 'in_progress' : 'queued', progress };
  },
});

/** Providers report the frame in the video or beside it, or not at all. */
function reportOf(answer: unknown, model: string): { report?: ProviderReport } {
  const video = field(answer, 'video');
  const read = (name: string) => field(video, name) ?? field(answer, name);
  return videoReport(possibleValues({ id: model, protocols: ['eta'] }), {
    resolution: read('resolution'),
    size: read('size'),
    ratio: read('aspect_ratio') ?? read('ratio'),
    duration: read('duration'),
  });
}

/** Uses the client's custom domain in the video's URL if the operator allows that domain. */
function resultOf(
  facts: object,
  url: string,
  seconds: number | undefined,
  domains: readonly string[] = [],
): VideoResult {
  const metadata = seconds === undefined ? {} : { metadata: { duration: seconds } };
  const domain = textField(facts, 'custom_domain')?.toLowerCase();
  if (domain === undefined || !domains.some((one) => one.toLowerCase() === domain))
    return { video_url: url, ...metadata };
  const publicUrl = new URL(url);
  publicUrl.host = domain;
  publicUrl.port = '';
  return { video_url: publicUrl.href, source_url: url, ...metadata };
}
