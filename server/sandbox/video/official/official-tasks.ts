import { type Exchange, type Route, sendJson } from '../../http/exchange.ts';
import { readJson } from '../../http/json-body.ts';
import { invalidParameter, NativeError } from '../../http/native-error.ts';
import {
  applyPollTriggers,
  hourMs,
  idFromPath,
  maxBodyBytes,
  sendCreated,
  withErrorFormat,
} from '../../tasks/protocol.ts';
import { createTimestampedId, type ForcedOutcome, TaskBoard } from '../../tasks/task-board.ts';
import { failOrHang } from '../../triggered-errors.ts';
import { findTriggers, type Triggers } from '../../triggers.ts';
import type { VideoServices } from '../video-services.ts';
import { type OfficialRequest, readOfficialRequest } from './official-request.ts';
import { type OfficialOutput, type OfficialTask, runOfficialJob } from './official-work.ts';
import { formatStatus, formatTask } from './task-view.ts';

type OfficialBoard = TaskBoard<OfficialRequest, OfficialOutput, OfficialRequest>;

const retentionMs = 7 * 24 * hourMs;

/** The official protocol of the Seedance family: create, poll, list, cancel and delete. */
export function officialRoutes(services: VideoServices): Route[] {
  const tasks: OfficialBoard = new TaskBoard({
    ...services,
    name: 'official',
    retentionMs,
    work: (request, triggers) => runOfficialJob(services, request, triggers),
  });

  async function create(exchange: Exchange): Promise<void> {
    const request = withDraft(readOfficialRequest(await readJson(exchange.request, maxBodyBytes)), tasks);
    for (const { url, field } of request.media) services.assets.validateReference(url, request.model, field);
    const triggers = findTriggers(request.prompt, ...request.media.map(({ url }) => url));
    await failOrHang(exchange, triggers);
    const task = tasks.add({
      id: createTimestampedId('cgt', services.now()),
      // Only the media of a draft is needed later. It can contain megabytes of Base64.
      request: request.draft ? request : { ...request, media: [] },
      triggers,
      fate: forcedOutcome(triggers),
      lifetime: request.executionExpiresAfter * 1000,
      job: request,
    });
    await sendCreated(exchange, triggers, { id: task.id, safety_identifier: request.safetyIdentifier });
  }

  async function poll(exchange: Exchange): Promise<void> {
    const task = requireTask(exchange);
    if (await applyPollTriggers(exchange, task)) return;
    sendJson(exchange, 200, formatTask(task));
  }

  async function list(exchange: Exchange): Promise<void> {
    const { page, total } = selectTasks(tasks.list(), exchange.url.searchParams);
    sendJson(exchange, 200, { items: page.map(formatTask), total });
  }

  async function remove(exchange: Exchange): Promise<void> {
    const task = requireTask(exchange);
    const { name } = task.stage();
    if (name === 'running' || name === 'canceled')
      throw invalidParameter(
        `A task that is ${name === 'running' ? name : 'cancelled'} cannot be deleted`,
        'id',
      );
    if (!task.cancel()) tasks.remove(task.id);
    exchange.response.writeHead(200, { 'content-length': 0 }).end();
  }

  function requireTask(exchange: Exchange): OfficialTask {
    const task = tasks.find(idFromPath(exchange));
    if (!task) throw new NativeError(404, 'ResourceNotFound', 'The task does not exist', {}, 'id');
    return task;
  }

  const path = '^/api/v3/contents/generations/tasks';
  return [
    { methods: ['POST'], path: new RegExp(`${path}$`), handler: withErrorFormat(formatError, create) },
    { methods: ['GET'], path: new RegExp(`${path}$`), handler: withErrorFormat(formatError, list) },
    { methods: ['GET'], path: new RegExp(`${path}/[^/]+$`), handler: withErrorFormat(formatError, poll) },
    {
      methods: ['DELETE'],
      path: new RegExp(`${path}/[^/]+$`),
      handler: withErrorFormat(formatError, remove),
    },
  ];
}

/** Copies prompt and media of the draft that the request refers to. */
function withDraft(request: OfficialRequest, tasks: OfficialBoard): OfficialRequest {
  if (request.draftTaskId === undefined) return request;
  const draft = tasks.find(request.draftTaskId);
  if (!draft?.request.draft || draft.stage().name !== 'succeeded')
    throw invalidParameter('content: draft_task.id is not a finished draft', 'content');
  return {
    ...request,
    prompt: request.prompt || draft.request.prompt,
    media: request.media.length > 0 ? request.media : draft.request.media,
  };
}

function forcedOutcome(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('queued')) return 'queued';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('sensitive'))
    return {
      code: 'OutputVideoSensitiveContentDetected',
      message: 'The output may contain sensitive content',
    };
  if (triggers.has('fail-late'))
    return { code: 'InternalServiceError', message: 'The task failed inside the service' };
  return undefined;
}

/** Returns the requested page of tasks and the total number of matches. */
function selectTasks(
  tasks: readonly OfficialTask[],
  query: URLSearchParams,
): { page: OfficialTask[]; total: number } {
  const number = readNumber(query, 'page_num', 500, 1);
  const size = readNumber(query, 'page_size', 100, 10);
  const ids = query.getAll('filter.task_ids');
  const matches = (name: string, value: string) => (query.get(name) ?? value) === value;
  const matching = tasks.filter(
    (task) =>
      matches('filter.status', formatStatus(task)) &&
      matches('filter.model', task.request.model) &&
      matches('filter.service_tier', task.request.serviceTier) &&
      (ids.length === 0 || ids.includes(task.id)),
  );
  return { page: matching.slice((number - 1) * size, number * size), total: matching.length };
}

function readNumber(query: URLSearchParams, name: string, max: number, fallback: number): number {
  const value = Number(query.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalidParameter(`${name} must be an integer from 1 to ${max}`, name);
  return value;
}

const types: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
};

/** Maps error codes of the native protocol to codes of this protocol. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'InputTextSensitiveContentDetected',
  InvalidApiKey: 'AuthenticationError',
  ModelNotFound: 'InvalidEndpoint.NotFound',
  'Throttling.RateQuota': 'RateLimitExceeded.EndpointRPMExceeded',
  InternalError: 'InternalServiceError',
  ModelUnavailable: 'ServerOverloaded',
};

/** Formats an error as `{error: {code, message, param, type}}`. */
function formatError(error: NativeError): object {
  const { code, message, field, status } = error;
  return {
    error: {
      code: codes[code] ?? code,
      message,
      param: field ?? '',
      type: types[status] ?? 'InternalServerError',
    },
  };
}
