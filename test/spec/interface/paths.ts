import * as fields from './fields.ts';

/** Error family of an operation, from part 7. */
export type ErrorFamily = 'generic' | 'native' | 'messages' | 'management';

export interface PathRow {
  method: 'get' | 'post';
  path: string;
  errors: ErrorFamily;
  /** Header parameters; a `!` marks one as required. */
  headers?: readonly string[];
  query?: readonly string[];
  /** Fields of the JSON body that the interface shows. */
  request?: fields.Fields;
  /** Fields of a successful JSON response that the interface shows. */
  response?: fields.Fields;
  /** Media types of a successful response. */
  media?: readonly string[];
}

/** Part 4.3: the prefixes of the music paths. */
const musicPrefixes = ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5'] as const;

const music: readonly PathRow[] = musicPrefixes.flatMap((prefix): PathRow[] => [
  {
    method: 'post',
    path: `${prefix}/submit/music`,
    errors: 'generic',
    request: fields.musicRequest,
    response: fields.musicSubmitted,
  },
  {
    method: 'post',
    path: `${prefix}/submit/lyrics`,
    errors: 'generic',
    request: { prompt: 'string' },
    response: fields.lyricsSubmitted,
  },
  { method: 'get', path: `${prefix}/fetch/{task_id}`, errors: 'generic', response: fields.musicRecord },
  { method: 'post', path: `${prefix}/fetch`, errors: 'generic' },
  { method: 'get', path: `${prefix}/feed/{clip_id}`, errors: 'generic' },
  { method: 'get', path: `${prefix}/act/wav/{clip_id}`, errors: 'generic' },
  { method: 'get', path: `${prefix}/act/timing/{clip_id}`, errors: 'generic' },
]);

/** Part 4 of the interface: all endpoints. Other operations of the contract are extensions. */
export const paths: readonly PathRow[] = [
  // 4.1
  {
    method: 'post',
    path: '/v1/audio/speech',
    errors: 'generic',
    request: fields.speechRequest,
    media: ['audio/mpeg', 'audio/wav', 'audio/pcm', 'text/event-stream'],
  },
  {
    method: 'post',
    path: '/api/v1/services/audio/tts/SpeechSynthesizer',
    errors: 'native',
    headers: ['X-Native-SSE'],
    media: ['application/json', 'text/event-stream'],
  },
  {
    method: 'post',
    path: '/api/v1/services/aigc/multimodal-generation/generation',
    errors: 'native',
    headers: ['X-Native-SSE'],
    request: fields.multimodalRequest,
    response: fields.multimodalResponse,
    media: ['application/json', 'text/event-stream'],
  },
  { method: 'get', path: '/api-ws/v1/inference', errors: 'generic', query: ['model'] },
  { method: 'get', path: '/api-ws/v1/realtime', errors: 'generic', query: ['model'] },
  { method: 'get', path: '/v1/realtime', errors: 'generic', query: ['model'] },
  { method: 'post', path: '/api/v1/services/audio/tts/customization', errors: 'native' },

  // 4.2
  {
    method: 'post',
    path: '/v1/video/generations',
    errors: 'generic',
    request: fields.videoGenerationRequest,
    response: fields.videoTask,
  },
  {
    method: 'get',
    path: '/v1/video/generations/{task_id}',
    errors: 'generic',
    // One of the two, by the family of the model.
    response: { ...fields.videoTask, ...fields.familyRecord },
  },
  {
    method: 'post',
    path: '/v1/videos',
    errors: 'generic',
    request: fields.etaRequest,
    response: fields.videoTask,
  },
  { method: 'get', path: '/v1/videos/{task_id}', errors: 'generic', response: fields.videoTask },
  {
    method: 'post',
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    errors: 'native',
    headers: ['X-Native-Async'],
    request: fields.gammaRequest,
    response: fields.nativeSubmitted,
  },
  { method: 'get', path: '/api/v1/tasks/{task_id}', errors: 'native', response: fields.nativeTask },
  {
    method: 'post',
    path: '/api/v3/contents/generations/tasks',
    errors: 'generic',
    request: fields.officialRequest,
  },
  {
    method: 'get',
    path: '/api/v3/contents/generations/tasks/{task_id}',
    errors: 'generic',
    response: { 'content.video_url': 'string' },
  },
  {
    method: 'post',
    path: '/api/assets/upload',
    errors: 'generic',
    query: ['model'],
    request: { url: 'string', asset_type: 'string', name: 'string' },
    response: { code: 'integer', message: 'string', 'data.Id': 'string' },
  },
  {
    method: 'get',
    path: '/api/assets/{id}',
    errors: 'generic',
    query: ['model'],
    response: fields.assetReply,
  },

  // 4.3
  ...music,

  // 4.4
  {
    method: 'post',
    path: '/api/v1/services/aigc/video-generation/3d-generation',
    errors: 'generic',
    request: fields.model3dRequest,
    response: fields.nativeSubmitted,
  },
  {
    method: 'post',
    path: '/v1/embeddings',
    errors: 'generic',
    request: { model: 'string', input: 'string' },
    response: fields.embeddingList,
  },
  {
    method: 'post',
    path: '/v1/messages',
    errors: 'messages',
    headers: ['compat-version!'],
    request: {
      model: 'string',
      max_tokens: 'integer',
      'messages[].role': 'string',
      'messages[].content': 'any',
    },
    response: fields.message,
  },
  {
    method: 'post',
    path: '/api/token/',
    errors: 'management',
    request: { name: 'string', remain_quota: 'integer', expired_time: 'integer' },
    response: fields.tokenReply,
  },
  {
    method: 'post',
    path: '/api/resource-channel/vendorx/visual-validate/sessions',
    errors: 'management',
    request: { callback_url: 'string' },
    response: fields.verificationReply,
  },
  {
    method: 'post',
    path: '/imgjob/submit/modal',
    errors: 'generic',
    request: {
      state: 'string',
      notifyHook: 'string',
      prompt: 'string',
      taskId: 'string',
      maskBase64: 'string',
    },
    response: fields.imageSubmitted,
  },
  { method: 'post', path: '/imgjob/submit/action', errors: 'generic' },
  {
    method: 'get',
    path: '/api/log/search',
    errors: 'management',
    query: ['keyword', 'p', 'page_size'],
    response: fields.logReply,
  },
];

/** Part 5: the routes that also accept the key in another header. All others accept the Bearer key only. */
export const apiKeyHeader = { name: 'x-api-key', paths: ['/v1/messages'] } as const;

/** Extension: browsers send the key as a subprotocol of the realtime socket. */
export const browserKey = { scheme: 'browserKey', paths: ['/api-ws/v1/realtime', '/v1/realtime'] } as const;
