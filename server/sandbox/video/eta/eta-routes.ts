import { randomUUID } from 'node:crypto';
import { type Exchange, type Route, sendJson } from '../../http/exchange.ts';
import { readJson } from '../../http/json-body.ts';
import { NativeError } from '../../http/native-error.ts';
import {
  applyPollTriggers,
  hourMs,
  idFromPath,
  maxBodyBytes,
  sendCreated,
  withErrorFormat,
} from '../../tasks/protocol.ts';
import { type ForcedOutcome, type Task, TaskBoard } from '../../tasks/task-board.ts';
import { failOrHang } from '../../triggered-errors.ts';
import { findTriggers, type Triggers } from '../../triggers.ts';
import type { VideoServices } from '../video-services.ts';
import { type EtaAction, type EtaRequest, readEtaRequest } from './eta-request.ts';
import { type EtaOutput, runEtaJob } from './eta-work.ts';

type EtaTask = Task<Pick<EtaRequest, 'model'>, EtaOutput>;

const retentionMs = 24 * hourMs;
/** Every third poll of an unfinished task returns 202 without a body. */
const emptyPollInterval = 3;

/** The eta protocol: generations, edits and extensions, with a common poll route. */
export function etaRoutes(services: VideoServices): Route[] {
  const tasks = new TaskBoard<Pick<EtaRequest, 'model'>, EtaOutput, EtaRequest>({
    ...services,
    name: 'eta',
    retentionMs,
    work: (request, triggers) => runEtaJob(services, request, triggers),
  });

  async function create(exchange: Exchange): Promise<void> {
    const action = idFromPath(exchange) as EtaAction;
    const request = readEtaRequest(await readJson(exchange.request, maxBodyBytes), action);
    const triggers = findTriggers(request.prompt, request.image, request.video, ...request.references);
    await failOrHang(exchange, triggers);
    const { model } = request;
    const fate = forcedOutcome(triggers);
    const task = tasks.add({ id: randomUUID(), request: { model }, triggers, fate, job: request });
    await sendCreated(exchange, triggers, { request_id: task.id });
  }

  async function poll(exchange: Exchange): Promise<void> {
    const task = tasks.find(idFromPath(exchange));
    if (!task) throw new NativeError(404, 'not_found', 'The request does not exist');
    if (await applyPollTriggers(exchange, task)) return;
    const { name } = task.stage();
    if ((name === 'queued' || name === 'running') && task.polls % emptyPollInterval === 0)
      exchange.response.writeHead(202, { 'content-length': 0 }).end();
    else sendJson(exchange, 200, formatTask(task));
  }

  return [
    {
      methods: ['POST'],
      path: /^\/v1\/videos\/(generations|edits|extensions)$/,
      handler: withErrorFormat(formatError, create),
    },
    { methods: ['GET'], path: /^\/v1\/videos\/[^/]+$/, handler: withErrorFormat(formatError, poll) },
  ];
}

function formatTask(task: EtaTask): object {
  const stage = task.stage();
  const { model } = task.request;
  switch (stage.name) {
    case 'queued':
    case 'canceled':
      return { status: 'pending', model, progress: 0 };
    case 'running':
      return { status: 'pending', model, progress: stage.progress };
    case 'expired':
      return { status: 'expired' };
    case 'failed': {
      const { code, message } = stage.failure;
      return { status: 'failed', model, error: { code: codes[code] ?? convertUnknownCode(code), message } };
    }
    case 'succeeded':
      return {
        ...(!task.triggers.has('no-status') && { status: 'done' }),
        ...formatFinished(task, stage.output),
      };
  }
}

function formatFinished({ request, triggers }: EtaTask, { url, duration }: EtaOutput): object {
  const moderated = triggers.has('sensitive');
  return {
    video: moderated ? { respect_moderation: false } : { url, duration, respect_moderation: true },
    model: request.model,
    progress: 100,
    usage: { duration: moderated ? 0 : duration },
  };
}

/** In this protocol, a task with unsuitable output succeeds without a video. */
function forcedOutcome(triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('queued')) return 'queued';
  if (triggers.has('expire')) return 'expired';
  if (triggers.has('fail-late'))
    return { code: 'InternalError', message: 'The request failed inside the service' };
  return undefined;
}

/** Maps error codes of the native protocol to codes of this protocol. */
const codes: Readonly<Record<string, string>> = {
  DataInspectionFailed: 'invalid_argument',
  InvalidApiKey: 'unauthenticated',
  AccessDenied: 'permission_denied',
  ModelNotFound: 'not_found',
  'Throttling.RateQuota': 'resource_exhausted',
  InternalError: 'internal',
  ModelUnavailable: 'unavailable',
  InvalidURL: 'invalid_argument',
};

function convertUnknownCode(code: string): string {
  return code.startsWith('InvalidParameter') ? 'invalid_argument' : code;
}

/** Formats an error as `{error: {code, message}}`. */
function formatError({ code, message }: NativeError): object {
  return { error: { code: codes[code] ?? convertUnknownCode(code), message } };
}
