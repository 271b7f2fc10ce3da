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
import { type OfficialOutput, type OfficialTask, workOnOfficial } from './official-work.ts';
import { showTask, statusOf } from './task-view.ts';

type OfficialBoard = TaskBoard<OfficialRequest, OfficialOutput, OfficialRequest>;

const retentionMs = 7 * 24 * hourMs;

/** The official protocol of the Seedance family: create, poll, list, cancel or delete. */
export function officialRoutes(services: VideoServices): Route[] {
  const tasks: OfficialBoard = new TaskBoard({
    ...services,
    name: 'official',
    retentionMs,
    work: (request, triggers) => workOnOfficial(services, request, triggers),
  });

  async function create(exchange: Exchange): Promise<void> {
    const request = withDraft(readOfficialRequest(await readJson(exchange.request, maxBodyBytes)), tasks);
    for (const { url, field } of request.media) services.assets.check(url, request.model, field);
    const triggers = findTriggers(request.prompt, ...request.media.map(({ url }) => url));
    await failOrHang(exchange, triggers);
    const task = tasks.add({
      id: createTimestampedId('cgt', services.now()),
      // Only a draft's media is needed again, and some of it may be megabytes of Base64.
      request: request.draft ? request : { ...request, media: [] },
      triggers,
      fate: fateOf(triggers),
      lifetime: request.executionExpiresAfter * 1000,
      job: request,
    });
    await sendCreated(exchange, triggers, { id: task.id, safety_identifier: request.safetyIdentifier });
  }

  async function poll(exchange: Exchange): Promise<void> {
    const task = found(exchange);
    if (await applyPollTriggers(exchange, task)) return;
    sendJson(exchange, 200, showTask(task));
  }

  async function list(exchange: Exchange): Promise<void> {
    const { page, total } = selectTasks(tasks.list(), exchange.url.searchParams);
    sendJson(exchange, 200, { items: page.map(showTask), total });
  }

  async function remove(exchange: Exchange): Promise<void> {
    const task = found(exchange);
    const { name } = task.stage();
    if (name === 'running' || name === 'canceled')
      throw invalidParameter(
        `A task that is ${name === 'running' ? name : 'cancelled'} cannot be deleted`,
        'id',
      );
    if (!task.cancel()) tasks.remove(task.id);
    exchange.response.writeHead(200, { 'content-length': 0 }).end();
  }

  function found(exchange: Exchange): OfficialTask {
    const task = tasks.find(idFromPath(exchange));
    if (!task) throw new NativeError(404, 'ResourceNotFound', 'There is no such task', {}, 'id');
    return task;
  }

  const path = '^/api/v3/contents/generations/tasks';
  return [
    { methods: ['POST'], path: new RegExp(`${path}$`), handler: withErrorFormat(officialError, create) },
    { methods: ['GET'], path: new RegExp(`${path}$`), handler: withErrorFormat(officialError, list) },
    { methods: ['GET'], path: new RegExp(`${path}/[^/]+$`), handler: withErrorFormat(officialError, poll) },
    {
      methods: ['DELETE'],
      path: new RegExp(`${path}/[^/]+$`),
      handler: withErrorFormat(officialError, remove),
    },
  ];
}

/** Takes prompt and media over from the draft that the request names. */
function withDraft(request: OfficialRequest, tasks: OfficialBoard): OfficialRequest {
  if (request.draftTaskId === undefined) return request;
  const draft = tasks.find(request.draftTaskId);
  if (!draft?.request.draft || draft.stage().name !== 'succeeded')
    throw invalidParameter('content: draft_task.id names no finished draft', 'content');
  return {
    ...request,
    prompt: request.prompt || draft.request.prompt,
    media: request.media.length > 0 ? request.media : draft.request.media,
  };
}

function fateOf(triggers: Triggers): ForcedOutcome {
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

/** The page of tasks that a list request asks for, and how many match in all. */
function selectTasks(
  tasks: readonly OfficialTask[],
  query: URLSearchParams,
): { page: OfficialTask[]; total: number } {
  const number = readNumber(query, 'page_num', 500, 1);
  const size = readNumber(query, 'page_size', 100, 10);
  const ids = query.getAll('filter.task_ids');
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const matching = tasks.filter(
    (task) =>
      wanted('filter.status', statusOf(task)) &&
      wanted('filter.model', task.request.model) &&
      wanted('filter.service_tier', task.request.serviceTier) &&
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

/** What the other vendor calls an error that the native protocol has under another name. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'InputTextSensitiveContentDetected',
  InvalidApiKey: 'AuthenticationError',
  ModelNotFound: 'InvalidEndpoint.NotFound',
  'Throttling.RateQuota': 'RateLimitExceeded.EndpointRPMExceeded',
  InternalError: 'InternalServiceError',
  ModelUnavailable: 'ServerOverloaded',
};

/** `{error: {code, message, param, type}}`. */
function officialError(error: NativeError): object {
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
