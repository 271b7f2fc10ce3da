import { randomUUID } from 'node:crypto';
import { type Exchange, type Route, sendJson } from '../../http/exchange.ts';
import { type JsonObject, readJson } from '../../http/json-body.ts';
import { NativeError } from '../../http/native-error.ts';
import { applyPollTriggers, hourMs, idFromPath, maxBodyBytes, sendCreated } from '../../tasks/protocol.ts';
import { type ForcedOutcome, type Task, TaskBoard } from '../../tasks/task-board.ts';
import { failOrHang } from '../../triggered-errors.ts';
import { findTriggers, type Triggers } from '../../triggers.ts';
import type { VideoServices } from '../video-services.ts';
import { type Model3dRequest, readModel3dRequest, workOnModel3d } from './model3d.ts';
import { readVideoRequest, type VideoRequest } from './video-request.ts';
import { type NativeOutput, workOnVideo } from './video-work.ts';

type Job = { kind: 'video'; request: VideoRequest } | { kind: 'model3d'; request: Model3dRequest };

type NativeTask = Task<undefined, NativeOutput>;

const retentionMs = 24 * hourMs;

/** The native protocol: gamma video and 3D, whose tasks are polled at one path. */
export function nativeRoutes(services: VideoServices): Route[] {
  const tasks = new TaskBoard<undefined, NativeOutput, Job>({
    ...services,
    name: 'native',
    retentionMs,
    work: ({ kind, request }, triggers) =>
      kind === 'video'
        ? workOnVideo(services, request, triggers)
        : workOnModel3d(services, request, triggers),
  });

  async function submit(exchange: Exchange, readJob: (body: JsonObject) => Job): Promise<void> {
    const body = await readJson(exchange.request, maxBodyBytes);
    if (String(exchange.request.headers['x-native-async'] ?? '').toLowerCase() !== 'enable')
      throw new NativeError(403, 'AccessDenied', 'The current user api does not support synchronous calls');
    const job = readJob(body);
    const triggers = findTriggers(...textsOf(job));
    await failOrHang(exchange, triggers);
    const task = tasks.add({
      id: randomUUID(),
      request: undefined,
      triggers,
      fate: fateOf(triggers),
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
    const shown = task ? show(task) : undefined;
    sendJson(exchange, 200, {
      request_id: exchange.requestId,
      ...(shown ?? { output: { task_id: id, task_status: 'UNKNOWN' } }),
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

/** Where triggers can be. */
function textsOf({ kind, request }: Job): (string | undefined)[] {
  return [request.prompt, ...(kind === 'video' ? request.media.map(({ url }) => url) : request.views)];
}

function fateOf(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('queued')) return 'queued';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('sensitive'))
    return { code: 'DataInspectionFailed', message: 'The output may contain unsuitable content' };
  if (triggers.has('fail-late'))
    return { code: 'InternalError', message: 'The task failed inside the service' };
  return undefined;
}

/** The task as a poll shows it; undefined for an expired one, which is shown as unknown. */
function show(task: NativeTask): object | undefined {
  const stage = task.stage();
  const common = (status: string) => ({
    task_id: task.id,
    task_status: status,
    submit_time: nativeTime(task.createdAt),
  });
  switch (stage.name) {
    case 'queued':
      return { output: common('PENDING') };
    case 'running':
      return { output: { ...common('RUNNING'), scheduled_time: nativeTime(stage.startedAt) } };
    case 'canceled':
      return { output: { ...common('CANCELED'), end_time: nativeTime(stage.endedAt) } };
    case 'expired':
      return undefined;
    case 'failed':
      return { output: { ...common('FAILED'), ...timesOf(stage), ...stage.failure } };
    case 'succeeded':
      return {
        output: { ...common('SUCCEEDED'), ...timesOf(stage), ...stage.output.output },
        ...(stage.output.usage && { usage: stage.output.usage }),
      };
  }
}

function timesOf({ startedAt, endedAt }: { startedAt: number; endedAt: number }): object {
  return { scheduled_time: nativeTime(startedAt), end_time: nativeTime(endedAt) };
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
function nativeTime(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '');
}
