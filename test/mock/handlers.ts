import type { Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { Failure, invalid } from '../../server/lib/failure.ts';
import { mediaTypeOf, speechEvents } from './events.ts';
import { exampleOf } from './examples.ts';
import { mediaFolder, mediaOf, splitSamples } from './media.ts';
import { type MockTask, type MockTasks, notFound, type Stage, taskKinds } from './tasks.ts';

/** The context of a handler. */
export interface MockExchange {
  request: Request;
  response: Response;
  /** An empty object for an operation without a body. */
  body: JsonObject;
  params: Readonly<Record<string, string>>;
  tasks: MockTasks;
  /** URL under which the client reached the mock, without a trailing slash. */
  base: string;
  /** Resolves after the pause between two chunks of a stream. Rejects if the client has disconnected. */
  pause(): Promise<void>;
}

type MockHandler = (exchange: MockExchange) => Promise<void> | void;

const streamedChunks = 4;

/** Handlers of operations with state or media. All other operations return documented examples. */
export const mockHandlers: ReadonlyMap<OperationId, MockHandler> = new Map<OperationId, MockHandler>([
  ...[...taskKinds].map(([operation]): [OperationId, MockHandler] => [operation, create(operation)]),
  ...pollOperations().map(([read, parameter]): [OperationId, MockHandler] => [read, poll(read, parameter)]),
  ['fetchMusicTasks', fetchMusic],
  ['createSpeech', createSpeech],
  ['synthesizeSpeech', synthesizeSpeech],
  ['generateMultimodalSpeech', synthesizeSpeech],
  ['listVideos', listVideos],
  ['listOfficialVideos', listOfficial],
  ['deleteVideo', deleteVideo],
  ['deleteOfficialVideo', deleteOfficial],
  ['cancelNativeTask', cancelNative],
  ['downloadVideoContent', download],
]);

function pollOperations(): [OperationId, string][] {
  const names: Readonly<Record<string, string>> = {
    getAsset: 'id',
    fetchImageJob: 'id',
    getVerificationSession: 'session_id',
  };
  return [...new Set([...taskKinds.values()].map(({ read }) => read))].map((read) => [
    read,
    names[read] ?? 'task_id',
  ]);
}

function create(operation: OperationId): MockHandler {
  return ({ request, body, response, tasks, base }) => {
    const listed = operation === 'submitMusic' && request.path.startsWith('/sigma/v1/');
    const created = exampleOf(operation, listed ? 'tasks' : firstExample(operation));
    response.json(tasks.create(operation, body, created, base));
  };
}

const firstExample = (operation: OperationId): string =>
  ({
    createVideo: 'queued',
    createGenericVideo: 'queued',
    createNativeVideo: 'pending',
    createModel3d: 'pending',
    createOfficialVideo: 'created',
    uploadAsset: 'accepted',
    createVerificationSession: 'pending',
    submitImageAction: 'accepted',
    submitImageModal: 'accepted',
  })[operation as string] ?? 'task_id';

function poll(read: OperationId, parameter: string): MockHandler {
  return ({ params, response, tasks, base }) => {
    const id = params[parameter] ?? '';
    const task = tasks.find(read, id);
    if (task !== undefined) response.json(tasks.show(task, base, read));
    else if (read === 'getNativeTask')
      response.json({ request_id: `req_${id}`, output: { task_id: id, task_status: 'UNKNOWN' } });
    else throw notFound(parameter, id);
  };
}

function fetchMusic({ body, response, tasks, base }: MockExchange): void {
  const ids = Array.isArray(body.ids) ? body.ids.map(String) : [];
  const records = ids.flatMap((id) => {
    const task = tasks.find('fetchMusicTask', id);
    const shown = task && tasks.show(task, base, 'fetchMusicTask');
    return isObject(shown) && shown.data !== undefined ? [shown.data] : [];
  });
  response.json({ code: 'success', message: '', data: records });
}

/** Returns speech as a file, as chunks, or as native events. */
async function createSpeech(exchange: MockExchange): Promise<void> {
  const { response, body } = exchange;
  const model = textOf(body.model);
  const format =
    typeof body.response_format === 'string' ? body.response_format : defaultFormat(model, body.stream);
  if (body.stream_format === 'sse') return sendEvents(exchange, speechEvents(model, format));
  const type = mediaTypeOf(format);
  const audio = mediaOf(type);
  if (audio === undefined) throw invalid('response_format', `the mock does not support ${format}.`);
  response.setHeader('content-type', type);
  if (body.stream !== true) return void response.end(audio);
  for (const chunk of splitSamples(audio, streamedChunks)) {
    response.write(chunk);
    await exchange.pause();
  }
  response.end();
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function defaultFormat(model: string, stream: unknown): string {
  if (/^(voxa|alpha-audio|beta\/)/.test(model)) return 'mp3';
  return stream === true ? 'pcm' : 'wav';
}

async function synthesizeSpeech(exchange: MockExchange): Promise<void> {
  const { request, response, body, base } = exchange;
  const model = textOf(body.model);
  const input = isObject(body.input) ? body.input : {};
  const format = typeof input.format === 'string' ? input.format : undefined;
  if (String(request.headers['x-native-sse']).toLowerCase() === 'enable')
    return sendEvents(exchange, speechEvents(model, format));
  if (model.startsWith('beta/')) {
    const audio = (mediaOf('audio/mpeg') ?? Buffer.alloc(0)).toString('hex');
    return void response.json(
      withOutput(exampleOf('generateMultimodalSpeech', 'beta'), { data: { audio, status: 2 } }),
    );
  }
  const hasSentences = /^(voxa|alpha-audio)/.test(model);
  const example = hasSentences
    ? exampleOf('synthesizeSpeech', 'finished')
    : exampleOf('generateMultimodalSpeech', model.startsWith('alpha3-') ? 'alpha3' : 'legacy');
  const name = `speech.${hasSentences ? (format ?? 'mp3').replace('opus', 'ogg').replace('pcm', 'wav') : 'wav'}`;
  const id = crypto.randomUUID();
  const expires = Math.floor(Date.now() / 1000) + 24 * 60 * 60;
  const audio = { data: '', url: `${base}/mock-media/${name}`, id: `audio_${id}`, expires_at: expires };
  response.json(withOutput(example, { audio }));
}

const withOutput = (example: Json, more: JsonObject): Json =>
  isObject(example)
    ? { ...example, output: { ...(isObject(example.output) && example.output), ...more } }
    : example;

async function sendEvents({ response, pause }: MockExchange, events: readonly string[]): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  for (const event of events) {
    response.write(event);
    await pause();
  }
  response.end();
}

function listVideos({ request, response, tasks, base }: MockExchange): void {
  const { limit = 20, after, order } = request.query as { limit?: number; after?: string; order?: string };
  const all = order === 'asc' ? tasks.list('getVideo').reverse() : tasks.list('getVideo');
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0)
    throw invalid('after', `there is no task ${JSON.stringify(after)} here.`);
  const page = all.slice(from, from + limit);
  response.json({
    object: 'list',
    data: page.map((task) => tasks.show(task, base)),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: from + page.length < all.length,
  });
}

function listOfficial({ request, response, tasks, base }: MockExchange): void {
  const { page_num = 1, page_size = 10 } = request.query as { page_num?: number; page_size?: number };
  const all = tasks.list('getOfficialVideo');
  const from = (page_num - 1) * page_size;
  const items = all.slice(from, from + page_size).map((task) => tasks.show(task, base));
  response.json({ items, total: all.length });
}

function deleteVideo({ params, response, tasks }: MockExchange): void {
  const { id } = requireEnded(tasks, 'getVideo', params.task_id);
  tasks.remove(id);
  response.json({ id, object: 'video.deleted', deleted: true });
}

function deleteOfficial({ params, response, tasks }: MockExchange): void {
  const task = tasks.find('getOfficialVideo', params.task_id ?? '');
  if (task === undefined || !tasks.cancel(task))
    tasks.remove(requireEnded(tasks, 'getOfficialVideo', params.task_id).id);
  response.status(204).end();
}

function cancelNative({ request, params, response, tasks }: MockExchange): void {
  const id = params.task_id ?? '';
  const task = tasks.find('getNativeTask', id);
  if (task === undefined) throw notFound('task_id', id);
  if (!tasks.cancel(task))
    throw new Failure(400, 'UnsupportedOperation', 'task_id: only a task that is PENDING can be canceled.');
  response.json({ request_id: request.context.requestId });
}

/** Returns a task that has ended. @throws Failure 404 for an unknown task, 400 for an unfinished one */
function requireEnded(tasks: MockTasks, read: OperationId, id = ''): MockTask {
  const task = tasks.find(read, id);
  if (task === undefined) throw notFound('task_id', id);
  const unfinished: readonly Stage[] = ['queued', 'running'];
  if (unfinished.includes(tasks.stage(task)))
    throw new Failure(400, 'task_not_completed', 'task_id: the task has not ended yet.');
  return task;
}

/** Sends the file of a completed task. Supports ranges. */
function download({ request, params, response, tasks }: MockExchange): Promise<void> {
  const id = params.task_id ?? '';
  const read = tasks.find('getVideo', id) === undefined ? 'getGenericVideo' : 'getVideo';
  const task = requireEnded(tasks, read, id);
  if (tasks.stage(task) === 'failed')
    throw new Failure(404, 'resource_not_found', 'task_id: the task has failed and has no file.');
  const name = request.query.variant === 'thumbnail' ? 'picture.jpg' : 'clip.mp4';
  return sendFile(response, name);
}

/** Sends a small media file. Supports ranges. */
export function sendFile(response: Response, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error) => (error === undefined || response.headersSent ? resolve() : reject(error));
    response.sendFile(name, { root: mediaFolder, cacheControl: false }, done);
  });
}
