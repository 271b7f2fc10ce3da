import { documented } from '../conformance/contract/documented.ts';
import type { ProxyFault, ProxyResponse } from './fault-injecting-proxy.ts';

/** A fault that the conformance kit must report. */
export interface PlantedFault {
  title: string;
  /** The operation that the kit tests. */
  operation: string;
  /** Start of the name of the check that must report the fault. */
  check: string;
  /** Creates the fault with its own state. */
  fault: () => ProxyFault;
  /** Matches the report. */
  problem: RegExp;
}

type Body = Record<string, unknown>;
type Change = (body: Body, request: Body) => unknown;

const parsed = (text: string): Body => {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
};
const isJson = ({ headers }: ProxyResponse) => String(headers['content-type']).startsWith('application/json');
const isStream = ({ headers }: ProxyResponse) =>
  String(headers['content-type']).startsWith('text/event-stream');
const isFile = ({ headers }: ProxyResponse, type: string) => String(headers['content-type']).startsWith(type);

/** Changes the JSON body of responses with this status to requests of that method and path. */
const json =
  (method: string, path: RegExp, change: Change, status = 200) =>
  (): ProxyFault => ({
    response: (response, request) => {
      if (request.method !== method || !path.test(request.path)) return undefined;
      if (response.status !== status || !isJson(response)) return undefined;
      return { body: JSON.stringify(change(parsed(response.body), parsed(request.body))) };
    },
  });

const data = (body: Body): Body => body.data as Body;
const list = (body: Body): Body[] => body.data as Body[];
/** Changes fields of `data`. */
const inData = (change: (one: Body) => Body) => (body: Body) => ({
  ...body,
  data: { ...data(body), ...change(data(body)) },
});
const inItems = (change: (all: Body[]) => Body[]) =>
  inData((one) => ({ items: change(one.items as Body[]) }));
const times = (value: unknown, factor: number) => Math.round(Number(value) * factor);
const withHeaders = (
  { headers }: ProxyResponse,
  change: Record<string, string | undefined>,
): Partial<ProxyResponse> => ({ headers: { ...headers, ...change } });

/** Changes headers of every response that `matches`. */
const headers = (change: Record<string, string | undefined>, method?: string) => (): ProxyFault => ({
  response: (response, request) =>
    method === undefined || request.method === method ? withHeaders(response, change) : undefined,
});

/** Changes every text event of a socket. */
const event = (change: (event: string) => string | readonly string[] | undefined) => (): ProxyFault => ({
  event: change,
});

/** Changes the text of an event stream. */
const stream = (change: (text: string) => string) => (): ProxyFault => ({
  response: (response) => (isStream(response) ? { body: change(response.body) } : undefined),
});

/** Replaces a file. */
const file = (type: string, change: (bytes: string) => string) => (): ProxyFault => ({
  response: (response) =>
    response.status === 200 && isFile(response, type) ? { body: change(response.body) } : undefined,
});

/** Responds to unknown tasks with the documented task and the requested id. */
const foreignTask = (operation: string, idField: string) => (): ProxyFault => ({
  response: (response, { method, path }) => {
    const id = path.split('/').find((part) => /^task_(?!0{32})[0-9a-f]{32}$/.test(part));
    const isUnknown = response.status === 404 || response.body.includes('"UNKNOWN"');
    if (!isUnknown || method !== 'GET' || id === undefined || !path.endsWith(id)) return undefined;
    const [example] =
      documented(operation).responses.find(({ status }) => status === 200)?.content[0]?.examples ?? [];
    const text = JSON.stringify(example?.value);
    return {
      status: 200,
      body: text.replace(new RegExp(`"${idField}":"[^"]+"`, 'g'), `"${idField}":"${id}"`),
    };
  },
});

const tokens = /^\/api\/token\/$/;
const logs = /^\/api\/log\/search$/;
const video = /^\/v1\/videos\/task_[0-9a-f]+$/;
const sessions = /sessions(\/[^/]+)?$/;
const embeddings = /embeddings$/;
const imageJob = /^\/imgjob\/task\//;
const nativeTask = /^\/api\/v1\/tasks\/task_/;
const allow = 'access-control-allow';
const isCompleted = ({ status }: Body) => status === 'completed';
const later = (text: unknown, ms: number) => new Date(Date.parse(String(text)) + ms).toISOString();

/** Title, operation, check, fault and the report. */
const table: readonly (readonly [string, string, string, () => ProxyFault, RegExp])[] = [
  // Order and pages of lists
  [
    'a list of keys in reverse order',
    'listTokens',
    '200 a list',
    json(
      'GET',
      tokens,
      inItems((all) => all.toReversed()),
    ),
    /list order: data\.items\[\d+\]\.id is \d+ after \d+, not descending/,
  ],
  [
    'a log in reverse order',
    'searchLogs',
    '200 a list',
    json(
      'GET',
      logs,
      inItems((all) => all.toReversed()),
    ),
    /list order: data\.items\[\d+\]\.id is \d+ after \d+, not descending/,
  ],
  [
    'a second page that equals the first',
    'listTokens',
    'the second page continues the first',
    () => ({ query: (query) => query.replace('p=2', 'p=1') }),
    /page: the second page repeats \d+ of the first/,
  ],
  [
    'a cursor that is ignored',
    'listVideos',
    'the second page continues the first',
    () => ({ query: (query) => query.replace(/after=[^&]*/, '') }),
    /page: the second page repeats "task_\w+" of the first/,
  ],
  [
    'a page that ignores its size',
    'listTokens',
    '200 a short page',
    () => ({ query: (query) => query.replace('page_size=1', 'page_size=2') }),
    /a page of one has 2 entries/,
  ],
  [
    'a total below the number of entries',
    'listTokens',
    '200 a list',
    json(
      'GET',
      tokens,
      inData(() => ({ total: 0 })),
    ),
    /sum: data\.total is 0, but data\.items has \d+ entries/,
  ],
  [
    'an entry that is listed twice',
    'listTokens',
    '200 a list',
    json(
      'GET',
      tokens,
      inItems((all) => all.flatMap((one, at) => (at === 0 ? [one, one] : [one]))),
    ),
    /id: data\.items\[\]\.id has \d+ more than once/,
  ],
  [
    'a model that is listed twice',
    'listModels',
    '200 the key in x-api-key only',
    json('GET', /models$/, (body) => ({ ...body, data: [...list(body), list(body)[0]] })),
    /id: data\[\]\.id has "[^"]+" more than once/,
  ],
  // Times
  [
    'a creation time in milliseconds',
    'createToken',
    'accepts the documented request limited (application/json)',
    json(
      'POST',
      tokens,
      inData(({ created_time }) => ({ created_time: times(created_time, 1000) })),
    ),
    /time: data\.created_time is \d+, which is not plausible as a Unix time in seconds, but as a Unix time in milliseconds/,
  ],
  [
    'a log in milliseconds',
    'searchLogs',
    '200 a list',
    json(
      'GET',
      logs,
      inItems((all) => all.map((one) => ({ ...one, created_at: times(one.created_at, 1000) }))),
    ),
    /time: data\.items\[0\]\.created_at is \d+, which is not plausible as a Unix time in seconds/,
  ],
  [
    'an image job in seconds',
    'fetchImageJob',
    '200 an image job whose states move only forward',
    json('GET', imageJob, (body) => ({ ...body, submitTime: times(body.submitTime, 0.001) })),
    /time: submitTime is \d+, which is not plausible as a Unix time in milliseconds, but as a Unix time in seconds/,
  ],
  [
    'a model of the future',
    'getModel',
    '200 the key in x-api-key only',
    json('GET', /models\/[^/]+$/, (body) => ({ ...body, created: times(body.created, 1.1) })),
    /time: created is \d+, which is not plausible as a Unix time in seconds/,
  ],
  [
    'a time in another time zone',
    'createVerificationSession',
    'accepts the documented request callback (application/json)',
    json(
      'POST',
      sessions,
      inData(({ created_at }) => ({ created_at: later(created_at, 8 * 3_600_000) })),
    ),
    /time: data\.created_at is "[^"]+", which is not plausible as a date/,
  ],
  [
    'a session that expires before it is created',
    'createVerificationSession',
    'accepts the documented request callback (application/json)',
    json(
      'POST',
      sessions,
      inData(({ created_at }) => ({ expires_at: later(created_at, -60_000) })),
    ),
    /time: data\.expires_at "[^"]+" is before updated_at/,
  ],
  [
    'a change before the creation',
    'getVideo',
    '200 a video task whose states move only forward',
    json('GET', video, (body) => ({ ...body, updated_at: Number(body.created_at) - 60 })),
    /time: updated_at \d+ is before created_at \d+/,
  ],
  [
    'a native task that starts before it is submitted',
    'getNativeTask',
    '200 a native task whose states move only forward',
    json('GET', nativeTask, (body) => ({
      ...body,
      output: {
        ...(body.output as Body),
        submit_time: '2026-11-25 00:00:00.000',
        scheduled_time: '2026-11-24 00:00:00.000',
      },
    })),
    /time: output\.scheduled_time "[^"]+" is before submit_time/,
  ],
  // Ids
  [
    'another model than that of the path',
    'getModel',
    '200 the key in x-api-key only',
    json('GET', /models\/[^/]+$/, (body) => ({ ...body, id: 'voxa-v2-other' })),
    /id: id is "voxa-v2-other", the path has model "[^"]+"/,
  ],
  [
    'another task than that of the path',
    'getOfficialVideo',
    '200 a official task whose states move only forward',
    json('GET', /tasks\/task_/, (body) => ({ ...body, id: `task_${'a'.repeat(32)}` })),
    /id: id is "task_a+", the path has task_id "task_\w+"/,
  ],
  [
    'another asset than that of the path',
    'getAsset',
    '200 an asset',
    json(
      'GET',
      /assets\//,
      inData(() => ({ Id: 'asset-20260301120000-zzzzz' })),
    ),
    /id: data\.Id is "asset-20260301120000-zzzzz", the path has id/,
  ],
  [
    'two ids of one task',
    'createVideo',
    'accepts the documented request eta_text (application/json)',
    json('POST', /^\/v1\/videos$/, (body) => ({ ...body, task_id: `task_${'b'.repeat(32)}` })),
    /\bid is "task_\w+", but task_id is "task_b+"/,
  ],
  [
    'another model than that of the request',
    'createEmbedding',
    'accepts the documented request text (application/json)',
    json('POST', embeddings, (body) => ({ ...body, model: 'other' })),
    /model is "other", the request has model "[^"]+"/,
  ],
  [
    'another request id in the body of an error',
    'getModel',
    '404 an unknown model',
    json('GET', /models\//, (body) => ({ error: { ...(body.error as Body), request_id: 'req_other' } }), 404),
    /error\.request_id is "req_other", x-request-id is/,
  ],
  [
    'another request id in a native task',
    'getNativeTask',
    '200 a native task whose states move only forward',
    json('GET', nativeTask, (body) => ({ ...body, request_id: 'req_other' })),
    /request_id is "req_other", x-request-id is/,
  ],
  [
    'a task of another format, as a video',
    'getVideo',
    '404 a task of createNativeVideo',
    foreignTask('getVideo', '(?:task_)?id'),
    /format: getVideo returns 200 for a task of createNativeVideo/,
  ],
  [
    'a task of another format, as an official task',
    'getOfficialVideo',
    '404 a task of createGenericVideo',
    foreignTask('getOfficialVideo', 'id'),
    /format: getOfficialVideo returns 200 for a task of createGenericVideo/,
  ],
  [
    'a task of another format, as a native task',
    'getNativeTask',
    '404 a task of createVideo',
    foreignTask('getNativeTask', 'task_id'),
    /format: getNativeTask returns 200 for a task of createVideo/,
  ],
  // Sums, indexes and requested values
  [
    'indexes of embeddings that are swapped',
    'createEmbedding',
    '200 several vectors',
    json('POST', embeddings, (body) => ({ ...body, data: list(body).toReversed() })),
    /index: data\[\]\.index is \[2,1,0\], not 0 to 2 in order/,
  ],
  [
    'vectors of embeddings that are swapped',
    'createEmbedding',
    '200 one vector at a time equals its index in a list',
    json('POST', embeddings, (body) => ({
      ...body,
      data: list(body).map((one, at, all) => ({ ...one, embedding: all.at(-1 - at)?.embedding })),
    })),
    /embedding: the vector of text 0 alone differs/,
  ],
  [
    'an embedding that is missing',
    'createEmbedding',
    '200 several vectors',
    json('POST', embeddings, (body) => ({ ...body, data: list(body).slice(0, 2) })),
    /data has 2 entries for 3 of input/,
  ],
  [
    'an encoding format that is ignored',
    'createEmbedding',
    'accepts the documented request texts (application/json)',
    () => ({
      request: ({ body }) => body.replace('"encoding_format":"base64"', '"encoding_format":"float"'),
    }),
    /encoding_format: data\[0\]\.embedding is float instead of "base64"/,
  ],
  [
    'dimensions that are ignored',
    'createEmbedding',
    '200 vectors of 16 dimensions',
    () => ({ request: ({ body }) => body.replace(/,"dimensions":16/, '') }),
    /dimensions: data\[0\]\.embedding has \d+ dimensions instead of 16/,
  ],
  [
    'a total of tokens that is not the sum',
    'createEmbedding',
    'accepts the documented request text (application/json)',
    json('POST', embeddings, (body) => ({
      ...body,
      usage: { ...(body.usage as Body), total_tokens: 9_999 },
    })),
    /sum: usage\.total_tokens is 9999, but input_tokens \+ output_tokens is \d+/,
  ],
  [
    'counters of a message that disagree',
    'createMessage',
    '200 the key in x-api-key only',
    json('POST', /messages$/, (body) => ({
      ...body,
      usage: { ...(body.usage as Body), prompt_tokens: 9_999 },
    })),
    /usage\.prompt_tokens is 9999, but input_tokens is \d+/,
  ],
  [
    'a sum of figures that is wrong',
    'showFigures',
    '200 figures',
    json(
      'GET',
      /figures$/,
      inData(({ sum }) => ({ sum: { ...(sum as Body), requests: 1 } })),
    ),
    /sum: data\.sum\.requests is 1, but items\[\]\.requests is \d+/,
  ],
  // Results and states
  [
    'a completed video without a file',
    'getVideo',
    '200 a video task whose states move only forward',
    json('GET', video, (body) =>
      isCompleted(body) ? { ...body, video_url: undefined, url: undefined } : body,
    ),
    /result: video_url is missing, while status is "completed"/,
  ],
  [
    'a completed video with half its progress',
    'getVideo',
    '200 a video task whose states move only forward',
    json('GET', video, (body) => (isCompleted(body) ? { ...body, progress: 50 } : body)),
    /progress is 50 instead of 100, while status is "completed"/,
  ],
  [
    'a finished song without songs',
    'fetchMusicTask',
    '200 a music task whose states move only forward',
    json(
      'GET',
      /fetch\/task_/,
      inData(({ status, data: songs }) => ({ data: status === 'SUCCESS' ? [] : songs })),
    ),
    /result: data is empty, while status is "SUCCESS"/,
  ],
  [
    'an official task with more output tokens than tokens',
    'getOfficialVideo',
    '200 a official task whose states move only forward',
    json('GET', /tasks\/task_/, (body) =>
      body.status === 'succeeded'
        ? { ...body, usage: { completion_tokens: 108_901, total_tokens: 108_900 } }
        : body,
    ),
    /usage\.completion_tokens is 108901, above total_tokens 108900/,
  ],
  [
    'a finished image job without an image',
    'fetchImageJob',
    '200 an image job whose states move only forward',
    json('GET', imageJob, (body) => ({ ...body, imageUrl: null })),
    /result: imageUrl is missing, while status is "SUCCESS"/,
  ],
  [
    'a repeat with the same idempotency key that creates a second task',
    'submitLyrics',
    '200 ',
    () => ({ headers: () => ({ 'idempotency-key': undefined }) }),
    /idempotency: a repeat of the request that created task_\w+ created task_\w+/,
  ],
  // Secrets
  [
    'a list of keys that shows secrets',
    'listTokens',
    '200 a list',
    json(
      'GET',
      tokens,
      inItems((all) => all.map((one) => ({ ...one, key: `sk-${'x'.repeat(40)}` }))),
    ),
    /secret: data\.items\[0\]\.key shows a complete key/,
  ],
  [
    'a new key that is abbreviated',
    'createToken',
    'accepts the documented request limited (application/json)',
    json(
      'POST',
      tokens,
      inData(() => ({ key: 'sk-***abcd' })),
    ),
    /secret: data\.key is abbreviated in the response that creates it/,
  ],
  // Web pages and HEAD
  [
    'responses without CORS headers',
    'listModels',
    'a request from a web page (CORS)',
    headers({ [`${allow}-origin`]: undefined }),
    /a request from a web page \(CORS\): CORS: access-control-allow-origin is missing/,
  ],
  [
    'a CORS header for another origin',
    'listModels',
    'a preflight request (CORS)',
    headers({ [`${allow}-origin`]: 'https://other.example' }),
    /CORS: access-control-allow-origin is https:\/\/other\.example instead of/,
  ],
  [
    'a request id that pages cannot read',
    'listModels',
    'a request from a web page (CORS)',
    headers({ 'access-control-expose-headers': 'retry-after' }),
    /CORS: access-control-expose-headers does not list x-request-id/,
  ],
  [
    'a preflight request that needs a key',
    'createMessage',
    'a preflight request (CORS)',
    () => ({
      response: (_response, { method }) => (method === 'OPTIONS' ? { status: 401, body: '{}' } : undefined),
    }),
    /preflight: status 401 instead of 204/,
  ],
  [
    'a preflight response without the requested headers',
    'createMessage',
    'a preflight request (CORS)',
    headers({ [`${allow}-headers`]: 'authorization, content-type' }, 'OPTIONS'),
    /preflight: access-control-allow-headers does not list x-api-key/,
  ],
  [
    'a preflight response without the method',
    'createMessage',
    'a preflight request (CORS)',
    headers({ [`${allow}-methods`]: 'GET' }, 'OPTIONS'),
    /preflight: access-control-allow-methods does not list POST/,
  ],
  [
    'HEAD that is not allowed',
    'listModels',
    'HEAD equals GET without a body',
    () => ({ response: (_response, { method }) => (method === 'HEAD' ? { status: 405 } : undefined) }),
    /HEAD: status 405, GET has 200/,
  ],
  [
    'HEAD with another type',
    'listModels',
    'HEAD equals GET without a body',
    headers({ 'content-type': 'text/html' }, 'HEAD'),
    /HEAD: content type text\/html, GET has application\/json/,
  ],
  // Refusals
  [
    'a refusal with another code',
    'createEmbedding',
    '400 malformed JSON',
    json(
      'POST',
      embeddings,
      (body) => ({ ...body, error: { ...(body.error as Body), code: 'idempotency_key_reused' } }),
      400,
    ),
    /code is idempotency_key_reused instead of invalid_request/,
  ],
  [
    'a refusal with a code of no document',
    'countMessageTokens',
    '400 malformed JSON',
    json(
      'POST',
      /count_tokens$/,
      (body) => ({ ...body, error: { ...(body.error as Body), code: 'malformed_request' } }),
      400,
    ),
    /errors\.yaml has no 400 malformed_request for messages operations/,
  ],
  [
    'a refusal that names no field',
    'createToken',
    'limits:',
    json('POST', tokens, (body) => ({ ...body, message: 'The request is invalid.' }), 400),
    /beyond name maxLength 50 the error does not name name: The request is invalid\./,
  ],
  [
    'a refusal at a limit',
    'createToken',
    'limits:',
    () => ({
      response: (response, { body }) =>
        String(parsed(body).name).length === 50 && response.status < 500
          ? { status: 400, body: '{"success":false,"message":"name: must have at most 49 characters."}' }
          : undefined,
    }),
    /at name maxLength 50 is not accepted: 400 name: must have at most 49 characters\./,
  ],
  [
    'a refusal at a limit without a reason',
    'createToken',
    'limits:',
    () => ({
      response: (response, { body }) =>
        String(parsed(body).name).length === 50 && response.status < 500
          ? { status: 400, body: '{"success":false,"message":"The request is invalid."}' }
          : undefined,
    }),
    /at name maxLength 50 is not accepted: 400 The request is invalid\./,
  ],
  [
    'a wrong key that is accepted',
    'listModels',
    '401 with a wrong key',
    () => {
      let valid: string | undefined;
      return {
        headers: ({ headers: { authorization } }) => {
          if (authorization === undefined) return {};
          valid ??= authorization;
          return { authorization: authorization === 'Bearer sk-wrong' ? valid : authorization };
        },
      };
    },
    /401 with a wrong key: status 200 instead of 401/,
  ],
  [
    'a limit of requests without retry-after',
    'listModels',
    '429 a key over its rate limit',
    () => ({
      response: (response) =>
        response.status === 429 ? withHeaders(response, { 'retry-after': undefined }) : undefined,
    }),
    /header retry-after is missing/,
  ],
  // Files
  [
    'bytes that are no MP4',
    'downloadVideoContent',
    '200 a file',
    file('video/mp4', (bytes) => 'x'.repeat(bytes.length)),
    /the body is not video\/mp4: unknown type, \d+ bytes/,
  ],
  [
    'an MP4 that has only its first bytes',
    'downloadVideoContent',
    '200 a file',
    file('video/mp4', (bytes) => bytes.slice(0, 32) + '\0'.repeat(bytes.length - 32)),
    /the body is not video\/mp4: it has /,
  ],
  [
    'an MP4 that is truncated',
    'downloadVideoContent',
    '200 a file',
    file('video/mp4', (bytes) => bytes.slice(0, -100)),
    /the body is not video\/mp4: it has a box that extends beyond the end/,
  ],
  [
    'a thumbnail that is truncated',
    'downloadVideoContent',
    '200 the last frame',
    file('image/png', (bytes) => bytes.slice(0, -20)),
    /the body is not image\/png: it has no chunk IEND at the end/,
  ],
  [
    'an MP3 that has only its first bytes',
    'createSpeech',
    'accepts the documented request mp3 (application/json)',
    file('audio/mpeg', (bytes) => bytes.slice(0, 4) + 'x'.repeat(bytes.length)),
    /the body is not audio\/mpeg: it has no second frame/,
  ],
  [
    'a range that is ignored',
    'downloadVideoContent',
    '206 a range of a file',
    () => ({
      headers: () => ({ range: undefined }),
      response: (response, request) =>
        request.headers.range === undefined
          ? undefined
          : { status: 206, ...withHeaders(response, { 'content-range': 'bytes 0-99/1000' }) },
    }),
    /a range of 100 bytes has \d+ bytes/,
  ],
  // Event streams
  [
    'an event id that is repeated in a stream',
    'synthesizeSpeech',
    '200 native events',
    stream((text) => text.replace(/^id:2$/m, 'id:1')),
    /event 2 has id 1/,
  ],
  [
    'a request id that changes within a stream',
    'synthesizeSpeech',
    '200 native events',
    stream((text) =>
      text.replace(/"request_id":"[^"]+"/, '"request_id":"0d9f8a7d-0000-4000-8000-000000000000"'),
    ),
    /id: request_id changes from/,
  ],
  [
    'a charge before the last event of a stream',
    'synthesizeSpeech',
    '200 native events',
    stream((text) => text.replace('"usage":{', '"usage":{"cost":3,')),
    /usage: an event before the last one has usage\.cost/,
  ],
  [
    'a stream of speech without audio',
    'synthesizeSpeech',
    '200 native events',
    stream((text) => text.replace(/"data":"[^"]*"/g, '"data":""')),
    /result: the stream ends without output\.audio\.data/,
  ],
  [
    'a message without text',
    'createMessage',
    'accepts the documented request streamed (application/json)',
    stream((text) => text.replace(/"text":"[^"]*"/g, '"text":""')),
    /result: the stream ends without delta\.text/,
  ],
  [
    'blocks of a message with the wrong index',
    'createMessage',
    'accepts the documented request streamed (application/json)',
    stream((text) => text.replaceAll('"index":0', '"index":1')),
    /index: the blocks are numbered 1/,
  ],
  // Sockets
  [
    'events of a foreign task',
    'openInferenceSocket',
    'the dialogue inference-refused-task',
    event((text) => text.replace(/"task_id":"[^"]+"/, '"task_id":"0d9f8a7d-0000-4000-8000-000000000000"')),
    /id: \S+ has the foreign task_id 0d9f8a7d/,
  ],
  [
    'usage of a task that is not cumulative',
    'openInferenceSocket',
    'the dialogue inference-task',
    event((text) => text.replace(/"characters":1[5-9]/, '"characters":3')),
    /usage: payload\.usage\.characters is 3 after \d+, which is not cumulative/,
  ],
  [
    'a finished task without audio',
    'openInferenceSocket',
    'the dialogue inference-task',
    () => ({ dropsBinary: true }),
    /result: the task is finished without audio/,
  ],
  [
    'usage of a session that is not cumulative',
    'openRealtimeSocket',
    'the dialogue realtime-session',
    event((text) => text.replace(/"characters":\d+/, '"characters":5')),
    /usage: response\.usage\.characters is 5 after 5, which is not cumulative/,
  ],
  [
    'an event id that is repeated in a session',
    'openRealtimeSocketAlias',
    'the dialogue realtime-legacy-session',
    event((text) => text.replace(/"event_id":"[^"]+"/, '"event_id":"event_same"')),
    /event id: two events have the event_id event_same/,
  ],
  [
    'a response without audio',
    'openRealtimeSocketAlias',
    'the dialogue realtime-legacy-session',
    event((text) => text.replace(/"delta":"[^"]*"/, '"delta":""')),
    /result: the response \S+ is completed without audio/,
  ],
  [
    'audio of another response',
    'openRealtimeSocketAlias',
    'the dialogue realtime-legacy-session',
    event((text) => text.replace(/"response_id":"[^"]+"/, '"response_id":"resp_other"')),
    /id: response\.\S+ has the response resp_other instead of/,
  ],
  [
    'a session with another voice',
    'openRealtimeSocketAlias',
    'the dialogue a canceled response and a finished session',
    event((text) =>
      text.includes('session.updated') ? text.replace(/"voice":"[^"]+"/, '"voice":"Other"') : text,
    ),
    /session\.updated confirms voice "Other" instead of "Aria"/,
  ],
  [
    'events in the wrong order',
    'openRealtimeSocketAlias',
    'the dialogue realtime-legacy-session',
    () => {
      let held: string[] = [];
      return {
        event: (text) => {
          if (text.includes('"response.content_part.added"')) {
            held = [text];
            return undefined;
          }
          const released = text.includes('"response.audio.done"') ? [text, ...held] : text;
          if (released !== text) held = [];
          return released;
        },
      };
    },
    /the expected order is session\.created, .*\n.*the actual order is {3}session\.created, /,
  ],
];

export const plantedFaults: readonly PlantedFault[] = table.map(
  ([title, operation, check, fault, problem]) => ({
    title,
    operation,
    check,
    fault,
    problem,
  }),
);
