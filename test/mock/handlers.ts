import type { Request, Response } from 'express';
import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject, text } from '../../openapi/tools/document.ts';
import { repetitionOf } from '../../server/calls/repetition.ts';
import type { OperationRequest } from '../../server/http/handler.ts';
import { Failure, invalid } from '../../server/lib/failure.ts';
import { findModel, quoted } from '../../server/models/catalogue.ts';
import type { AudioFormat, AudioSettings } from '../../server/sandbox/speech/commands.ts';
import { documented } from '../conformance/contract/documented.ts';
import { costOf, speechEvents } from './events.ts';
import { exampleOf } from './examples.ts';
import { mediaPath } from './media.ts';
import { sampleChunks, sampleFile } from './sample-audio.ts';
import { sendFile } from './send-file.ts';
import { sampleFileName, speechSettings } from './speech-audio.ts';
import { type MockTask, notFound, type Stage, taskKinds } from './task-kinds.ts';
import type { MockTasks } from './tasks.ts';
import type { MockVoices } from './voices.ts';

/** The context of a handler. */
export interface MockExchange {
  request: Request;
  response: Response;
  /** An empty object for an operation without a body. */
  body: JsonObject;
  params: Readonly<Record<string, string>>;
  tasks: MockTasks;
  voices: MockVoices;
  /** URL under which the client reached the mock, without a trailing slash. */
  base: string;
  /** Resolves after the pause between two chunks of a stream. Rejects if the client has disconnected. */
  pause(): Promise<void>;
}

type MockHandler = (exchange: MockExchange) => Promise<void> | void;

const streamedChunks = 4;
const chargeHeader = 'x-unigate-cost';

/** Handlers of operations with state or media. All other operations return documented examples. */
export const mockHandlers: ReadonlyMap<OperationId, MockHandler> = new Map<OperationId, MockHandler>([
  ...[...taskKinds].map(([operation]): [OperationId, MockHandler] => [operation, create(operation)]),
  ...pollOperations().map(([read, parameter]): [OperationId, MockHandler] => [read, poll(read, parameter)]),
  ['fetchMusicTasks', fetchMusic],
  ['listImageJobs', listImageJobs],
  ['customizeVoice', async ({ body, response, voices }) => void response.json(await voices.respond(body))],
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
    const isRepeatable = documented(operation).parameters.some(({ name }) => /^idempotency-key$/i.test(name));
    const repetition = isRepeatable ? repetitionOf(request.headers) : undefined;
    response.json(tasks.create(operation, body, created, base, repetition));
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
    submitImagine: 'accepted',
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
    else throw notFound(read, parameter, id);
  };
}

function fetchMusic(exchange: MockExchange): void {
  const records = requestedTasks(exchange, 'fetchMusicTask').map((shown) =>
    isObject(shown) ? (shown.data ?? null) : null,
  );
  exchange.response.json({ code: 'success', message: '', data: records });
}

function listImageJobs(exchange: MockExchange): void {
  exchange.response.json(requestedTasks(exchange, 'fetchImageJob'));
}

/** Returns the responses of the operation `read` for the ids of the request, each once, without unknown ids. */
function requestedTasks({ body, tasks, base }: MockExchange, read: OperationId): Json[] {
  const ids = new Set(Array.isArray(body.ids) ? body.ids.map(String) : []);
  return [...ids].flatMap((id) => {
    const task = tasks.find(read, id);
    return task === undefined ? [] : [tasks.show(task, base, read)];
  });
}

/** Returns speech as a file, as chunks, or as native events. */
async function createSpeech(exchange: MockExchange): Promise<void> {
  const { response, request } = exchange;
  const { toNative, speechInput } = await speechCode();
  const body = request.body as OperationRequest<'createSpeech'>['body'];
  const input = speechInput(body);
  const model = findModel(body.model);
  const native = toNative(model, input);
  const settings = speechSettings(model, native.body.input as JsonObject, input.streaming !== 'no');
  if (input.streaming === 'events') return sendSpeechEvents(exchange, model, settings);
  response.setHeader('content-type', mediaTypeOf(settings.format));
  const cost = costOf(exampleUsage(model));
  if (input.streaming === 'no') {
    response.setHeader(chargeHeader, cost);
    return void response.end(await sampleFile(settings));
  }
  const endCharged = announceCharge(exchange);
  for (const chunk of await sampleChunks(settings, streamedChunks)) {
    response.write(chunk);
    await exchange.pause();
  }
  endCharged(cost);
}

/** Returns the documented usage of a model. */
function exampleUsage({ unit }: CatalogueModel): Json | undefined {
  const example =
    unit === 'tokens'
      ? exampleOf('generateMultimodalSpeech', 'legacy')
      : exampleOf('synthesizeSpeech', 'finished');
  return isObject(example) ? example.usage : undefined;
}

/** Announces a charge as a trailer if the client accepts one. Returns a function that ends the response with it. */
function announceCharge({ request, response }: MockExchange): (cost: number) => void {
  const hasTrailer = request.httpVersion === '1.1' && /\btrailers\b/i.test(String(request.headers.te));
  if (hasTrailer) response.setHeader('trailer', chargeHeader);
  return (cost) => {
    if (hasTrailer) response.addTrailers({ [chargeHeader]: String(cost) });
    response.end();
  };
}

/** Loads the gateway's code late, so that the mock starts fast. */
async function speechCode() {
  const [{ toNative }, { speechInput }] = await Promise.all([
    import('../../server/providers/native/speech-request.ts'),
    import('../../server/calls/speech/speech-input.ts'),
  ]);
  return { toNative, speechInput };
}

/** Returns the media type of a speech format. */
function mediaTypeOf(format: AudioFormat): string {
  const types: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/ogg' };
  return types[format] ?? `audio/${format}`;
}

async function synthesizeSpeech(exchange: MockExchange): Promise<void> {
  const { request, response, body, base } = exchange;
  const model = findModel(text(body.model));
  const input = isObject(body.input) ? body.input : {};
  const isStream = String(request.headers['x-native-sse']).toLowerCase() === 'enable';
  const settings = speechSettings(model, input, isStream);
  if (isStream) return sendSpeechEvents(exchange, model, settings);
  const url = `${base}${mediaPath}/${sampleFileName(settings)}`;
  if (model.family === 'beta') {
    const audio = input.output_format === 'url' ? url : (await sampleFile(settings)).toString('hex');
    const example = exampleOf('generateMultimodalSpeech', 'beta');
    return sendCharged(response, withOutput(example, { data: { audio, status: 2 } }));
  }
  const example = model.protocols.includes('multimodal')
    ? exampleOf('generateMultimodalSpeech', model.family === 'alpha3' ? 'alpha3' : 'legacy')
    : exampleOf('synthesizeSpeech', 'finished');
  const expires = Math.floor(Date.now() / 1000) + 24 * 60 * 60;
  const audio = { data: '', url, id: `audio_${crypto.randomUUID()}`, expires_at: expires };
  sendCharged(response, withOutput(example, { audio }));
}

/** Sends JSON with the charge of its usage. */
function sendCharged(response: Response, body: Json): void {
  response.setHeader(chargeHeader, costOf(isObject(body) ? body.usage : undefined)).json(body);
}

/** Sends native events. The file of an alpha model is a WAV file. */
async function sendSpeechEvents(
  exchange: MockExchange,
  model: CatalogueModel,
  settings: AudioSettings,
): Promise<void> {
  const format = model.protocols.includes('multimodal') ? 'wav' : settings.format;
  const url = `${exchange.base}${mediaPath}/${sampleFileName({ ...settings, format })}`;
  await sendEvents(exchange, await speechEvents(model, settings, url));
}

const withOutput = (example: Json, more: JsonObject): Json =>
  isObject(example)
    ? { ...example, output: { ...(isObject(example.output) && example.output), ...more } }
    : example;

/** Sends the events of a charged stream, the last of which states the charge. */
async function sendEvents(exchange: MockExchange, events: readonly string[]): Promise<void> {
  const { response, pause } = exchange;
  const endCharged = announceCharge(exchange);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  for (const event of events) {
    response.write(event);
    await pause();
  }
  endCharged(Number(/"cost":(\d+)/.exec(events.at(-1) ?? '')?.[1]));
}

function listVideos({ request, response, tasks, base }: MockExchange): void {
  const { limit = 20, after, order } = request.query as { limit?: number; after?: string; order?: string };
  const all = order === 'asc' ? tasks.list('getVideo').reverse() : tasks.list('getVideo');
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw invalid('after', `there is no task ${quoted(after)} here.`);
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
  if (task === undefined) throw notFound('getNativeTask', 'task_id', id);
  if (!tasks.cancel(task))
    throw new Failure(400, 'UnsupportedOperation', 'task_id: only a task that is PENDING can be canceled.');
  response.json({ request_id: request.context.requestId });
}

/** Returns a task that has ended. @throws Failure 404 for an unknown task, 400 for an unfinished one */
function requireEnded(tasks: MockTasks, read: OperationId, id = ''): MockTask {
  const task = tasks.find(read, id);
  if (task === undefined) throw notFound(read, 'task_id', id);
  const unfinished: readonly Stage[] = ['queued', 'running'];
  if (unfinished.includes(tasks.stage(task)))
    throw new Failure(400, 'task_not_completed', 'task_id: the task has not ended yet.');
  return task;
}

/** Sends the file of a completed task. */
async function download({ request, params, response, tasks }: MockExchange): Promise<void> {
  const id = params.task_id ?? '';
  const read = tasks.find('getVideo', id) === undefined ? 'getGenericVideo' : 'getVideo';
  const task = requireEnded(tasks, read, id);
  if (tasks.stage(task) === 'failed')
    throw new Failure(404, 'resource_not_found', 'task_id: the task has failed and has no file.');
  await sendFile(request, response, request.query.variant === 'thumbnail' ? 'picture.jpg' : 'clip.mp4');
}
