import { randomUUID } from 'node:crypto';
import { type Exchange, type Route, sendJson } from '../../http/exchange.ts';
import { type JsonObject, readJson } from '../../http/json-body.ts';
import { NativeError } from '../../http/native-error.ts';
import { applyPollTriggers, hourMs, idFromPath, maxBodyBytes, sendCreated } from '../../tasks/protocol.ts';
import { type ForcedOutcome, type Task, TaskBoard } from '../../tasks/task-board.ts';
import { failOrHang } from '../../triggered-errors.ts';
import { findTriggers, type Triggers } from '../../triggers.ts';
import type { VideoServices } from '../video-services.ts';
import { type Model3dRequest, readModel3dRequest, runModel3dJob } from './model3d.ts';
import { readVideoRequest, type VideoRequest } from './video-request.ts';
import { type NativeOutput, runVideoJob } from './video-work.ts';

type Job = { kind: 'video'; request: VideoRequest } | { kind: 'model3d'; request: Model3dRequest };

type NativeTask = Task<undefined, NativeOutput>;

const retentionMs = 24 * hourMs;

/** The native protocol: gamma video and 3D tasks, with a common poll route. */
export function nativeRoutes(services: VideoServices): Route[] {
  const tasks = new TaskBoard<undefined, NativeOutput, Job>({
    ...services,
    name: 'native',
    retentionMs,
    work: ({ kind, request }, triggers) =>
      kind === 'video'
        ? runVideoJob(services, request, triggers)
        : runModel3dJob(services, request, triggers),
  });

  async function submit(exchange: Exchange, readJob: (body: JsonObject) => Job): Promise<void> {
    const body = await readJson(exchange.request, maxBodyBytes);
    if (String(exchange.request.headers['x-native-async'] ?? '').toLowerCase() !== 'enable')
      throw new NativeError(403, 'AccessDenied', 'The current user api does not support synchronous calls');
    const job = readJob(body);
    const triggers = findTriggers(...collectTexts(job));
    await failOrHang(exchange, triggers);
    const task = tasks.add({
      id: randomUUID(),
      request: undefined,
      triggers,
      fate: forcedOutcome(triggers),
      job,
    });
    await sendCreated(exchange, triggers, {
      output: { task_status: 'PENDING', task_id: task.id },
      request_id: exchange.requestId,
    });
  }

  async function poll(exchange: Exchange): Promise<void> {
    const id = idFromPath(exchange);
    const task = tasks.find(id);
    if (task && (await applyPollTriggers(exchange, task))) return;
    const fields = task ? formatTask(task) : undefined;
    sendJson(exchange, 200, {
      request_id: exchange.requestId,
      ...(fields ?? { output: { task_id: id, task_status: 'UNKNOWN' } }),
    });
  }

  async function cancel(exchange: Exchange): Promise<void> {
    const id = exchange.url.pathname.split('/').at(-2) ?? '';
    if (!tasks.find(id)?.cancel())
      throw new NativeError(400, 'UnsupportedOperation', 'Only a PENDING task can be canceled');
    sendJson(exchange, 200, { request_id: exchange.requestId });
  }

  const generation = '/api/v1/services/aigc/video-generation';
  return [
    {
      methods: ['POST'],
      path: new RegExp(`^${generation}/video-synthesis$`),
      handler: (exchange) => submit(exchange, (body) => ({ kind: 'video', request: readVideoRequest(body) })),
    },
    {
      methods: ['POST'],
      path: new RegExp(`^${generation}/3d-generation$`),
      handler: (exchange) =>
        submit(exchange, (body) => ({ kind: 'model3d', request: readModel3dRequest(body) })),
    },
    { methods: ['GET'], path: /^\/api\/v1\/tasks\/[^/]+$/, handler: poll },
    { methods: ['POST'], path: /^\/api\/v1\/tasks\/[^/]+\/cancel$/, handler: cancel },
  ];
}

/** Returns the texts that are searched for triggers. */
function collectTexts({ kind, request }: Job): (string | undefined)[] {
  return [request.prompt, ...(kind === 'video' ? request.media.map(({ url }) => url) : request.views)];
}

function forcedOutcome(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('queued')) return 'queued';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('sensitive'))
    return { code: 'DataInspectionFailed', message: 'The output may contain unsuitable content' };
  if (triggers.has('fail-late'))
    return { code: 'InternalError', message: 'The task failed inside the service' };
  return undefined;
}

/** Formats a task for a poll. Returns undefined for an expired task, which is reported as unknown. */
function formatTask(task: NativeTask): object | undefined {
  const stage = task.stage();
  const common = (status: string) => ({
    task_id: task.id,
    task_status: status,
    submit_time: formatTime(task.createdAt),
  });
  switch (stage.name) {
    case 'queued':
      return { output: common('PENDING') };
    case 'running':
      return { output: { ...common('RUNNING'), scheduled_time: formatTime(stage.startedAt) } };
    case 'canceled':
      return { output: { ...common('CANCELED'), end_time: formatTime(stage.endedAt) } };
    case 'expired':
      return undefined;
    case 'failed':
      return { output: { ...common('FAILED'), ...formatTimes(stage), ...stage.failure } };
    case 'succeeded':
      return {
        output: { ...common('SUCCEEDED'), ...formatTimes(stage), ...stage.output.output },
        ...(stage.output.usage && { usage: stage.output.usage }),
      };
  }
}

function formatTimes({ startedAt, endedAt }: { startedAt: number; endedAt: number }): object {
  return { scheduled_time: formatTime(startedAt), end_time: formatTime(endedAt) };
}

/** Formats a time as `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
function formatTime(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '');
}
