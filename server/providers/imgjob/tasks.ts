import { Failure, ProviderFailure, type TaskError } from '../../lib/failure.ts';
import {
  booleanField,
  defined,
  field,
  idField,
  numberField,
  objectField,
  percentField,
  pick,
  textField,
} from '../../lib/json.ts';
import {
  type AcceptedTask,
  DriverError,
  type Snapshot,
  type TaskDriver,
  taskCanceled,
  type Upstream,
} from '../../tasks/driver.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { taskErrorFrom } from '../public-ids.ts';
import { defaultRejection, providerFailure, throttledFailure } from '../rejection.ts';
import { invalidResponse, pollTask, rejected, requestTask, taskLost, unchanged } from '../task-request.ts';
import { type ImageResult, readJob } from './image-job.ts';

/** Consecutive responses without a job after which the job is lost: about five minutes of polls. */
const maxMissedPolls = 20;
const failed: TaskError = { code: 'image_generation_failed', message: 'The provider made no image.' };

/** Image jobs in the imgjob protocol, whose responses have status 200 and a code. */
export const imgjobDriver: TaskDriver = {
  async submit({ facts }, request, upstream) {
    const call = facts.custom_id === undefined ? 'imagine' : 'action';
    const { code, upstreamId, properties } = await submit(call, request, upstream);
    if (code === 1) return { upstreamId };
    const waiting = code === 21 && call === 'action';
    const result: ImageResult = { submitted: { code, properties }, ...(waiting && { waiting }) };
    return { upstreamId, result: { ...result } };
  },

  async resume(task, request, upstream) {
    const { upstreamId } = await submit('modal', { ...request, taskId: task.upstreamId }, upstream);
    const { waiting: _, missedPolls: __, ...result }: ImageResult = task.result ?? {};
    return { upstreamId, result };
  },

  poll(task, upstream) {
    const path = `/imgjob/task/${encodeURIComponent(task.upstreamId)}/fetch`;
    return pollTask(upstream, path, (answer) => snapshot(task, answer, upstream));
  },
};

async function submit(call: 'imagine' | 'action' | 'modal', body: object, upstream: Upstream) {
  const answer = await requestTask(upstream, { method: 'POST', path: `/imgjob/submit/${call}`, body });
  const reportedCode = numberField(answer, 'code');
  const code = ([1, 21, 22] as const).find((one) => one === reportedCode);
  const upstreamId = idField(answer, 'result');
  if (code === undefined) throw errorForCode(reportedCode, answer, body, upstream);
  if (upstreamId === undefined) throw invalidResponse();
  const properties = objectField(answer, 'properties');
  const redactor = new ProviderRedactor(upstream.channel, body);
  const finalPrompt = textField(properties, 'finalPrompt');
  const position = numberField(properties, 'numberOfQueues') ?? -1;
  return {
    upstreamId,
    code,
    properties: defined({
      ...(code === 21 && {
        finalPrompt: finalPrompt && redactor.redact(finalPrompt, 20_000),
        remix: booleanField(properties, 'remix'),
      }),
      ...(code === 22 && Number.isSafeInteger(position) && position >= 0 && { numberOfQueues: position }),
    }),
  };
}

function errorForCode(
  code: number | undefined,
  answer: unknown,
  body: object,
  { channel }: Upstream,
): DriverError {
  const redactor = new ProviderRedactor(channel, body);
  switch (code) {
    case 3:
      return rejected(new Failure(404, 'resource_not_found', 'taskId: the provider no longer has the job.'));
    case 4: {
      const message = redactor.redact(textField(answer, 'description') ?? defaultRejection, 2_000);
      return rejected(new ProviderFailure(400, 'bad_request', message));
    }
    case 9:
      return new DriverError('unknown', providerFailure(502), { failureKind: 'server_error' });
    case 23:
    case 30:
      return new DriverError('retryable', throttledFailure(), { failureKind: 'throttled' });
    case 24: {
      const word = textField(field(answer, 'properties'), 'bannedWord');
      const which =
        word === undefined ? 'one of its words' : `the word ${JSON.stringify(redactor.redact(word, 80))}`;
      const message = `prompt: the provider takes no prompt with ${which}.`;
      return rejected(new Failure(400, 'banned_word', message));
    }
    default:
      return invalidResponse();
  }
}

function snapshot(task: AcceptedTask, answer: unknown, { channel }: Upstream): Snapshot {
  const stored: ImageResult = task.result ?? {};
  if (answer === undefined || answer === null) {
    // Some providers also send this during a short outage.
    const missedPolls = (stored.missedPolls ?? 0) + 1;
    if (missedPolls >= maxMissedPolls) return { state: 'failed', error: taskLost };
    return { ...unchanged(task), result: { ...stored, missedPolls } };
  }
  const { sent_hosts, prompt } = task.facts;
  const job = readJob(answer, new ProviderRedactor(channel, [sent_hosts, prompt]));
  const status = field(answer, 'status');
  const result = {
    ...job,
    ...(status === 'MODAL' && { waiting: true as const }),
    ...pick(stored, ['submitted']),
  };
  switch (status) {
    case 'NOT_START':
    case 'SUBMITTED':
    case 'MODAL':
      return { state: 'queued', result };
    case 'IN_PROGRESS':
      return { state: 'in_progress', progress: percentField(answer, 'progress'), result };
    case 'SUCCESS':
      if (job.image_url === undefined && job.video_url === undefined)
        return { state: 'failed', error: failed, result };
      return { state: 'completed', result };
    case 'FAILURE': {
      const reason = { message: field(answer, 'failReason') };
      return { state: 'failed', error: taskErrorFrom(task, channel, reason, failed), result };
    }
    case 'CANCEL':
      return { state: 'failed', error: taskCanceled, result };
    default:
      return unchanged(task);
  }
}
