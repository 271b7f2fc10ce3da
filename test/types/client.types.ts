// The types that the client accepts and returns. Nothing here runs: `tsc` checks it.
import type {
  CallArguments,
  CallableOperation,
  CompletedVideo,
  components,
  EmbeddingRequest,
  events,
  HttpClient,
  MessageRequest,
  Model,
  Model3dRequest,
  NativeSpeechReply,
  OfficialTaskRequest,
  OperationData,
  Song,
  SpeechAudio,
  SpeechEvent,
  SpeechRequest,
  SucceededNativeTask,
  VideoTask,
} from '../../client/index.ts';
import { APIError, RateLimitError, TaskFailedError, Unigate, verifyDelivery } from '../../client/index.ts';
import type { ModelId, ProtocolModels } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Equal, Expect } from './equal.types.ts';

type Schemas = components['schemas'];
const client = new Unigate();
const speech = { model: 'voxa-v2', voice: 'voxanna', input: 'Hello.' };

// Speech.
const audio = await client.speech.create({ ...speech, response_format: 'mp3', stream: true });
export type Audio = Expect<Equal<typeof audio, SpeechAudio>>;
const bytes: Uint8Array = await audio.bytes();
for await (const chunk of audio) bytes.set(chunk);
// @ts-expect-error the voice is required
await client.speech.create({ model: 'voxa-v2', input: 'Hello.' });
// @ts-expect-error events have a method of their own
await client.speech.create({ ...speech, stream_format: 'sse' });
// @ts-expect-error no model produces aac
await client.speech.create({ ...speech, response_format: 'aac' });
await client.speech.create(speech, { timeout: 1_000, maxRetries: 0, signal: AbortSignal.timeout(5) });

for await (const event of client.speech.events(speech)) {
  const id: string = event.request_id;
  void id;
  // Events narrow by their tag.
  if ('type' in event.output && event.output.type === 'sentence-end') {
    const sentence: events.SpokenSentence = event.output.sentence;
    void sentence;
  }
}
// Error events are thrown, so they are not among the events.
export type NoErrors = Expect<Equal<Extract<SpeechEvent, { code: string }>, never>>;

const spoken = await client.speech.synthesize({ model: 'voxa-v2', input: { text: 'Hi.', voice: 'v' } });
export type Spoken = Expect<Equal<typeof spoken, NativeSpeechReply>>;
const either = await client.speech.multimodal({ model: 'alpha-tts', input: { text: 'Hi.', voice: 'v' } });
export type Either = Expect<Equal<typeof either, NativeSpeechReply | Schemas['BetaSpeechReply']>>;
const models = await client.models.list();
export type Models = Expect<Equal<typeof models, Model[]>>;

// Tasks.
const completed = await client.videos.createAndWait(
  { model: 'gamma3.0-video', prompt: 'A boat.', seconds: 5, metadata: { parameters: { seed: 0 } } },
  {
    pollIntervalMs: 100,
    timeoutMs: 1_000,
    idempotencyKey: 'a',
    onProgress: ({ percent, task }) => [percent, task.status],
  },
);
export type Completed = Expect<Equal<typeof completed, CompletedVideo>>;
const address: string = completed.video_url;
await client.videos.downloadTo(completed.id, address, {
  variant: 'thumbnail',
  onBytes: (bytes, total) => [bytes, total],
});
for await (const task of client.videos.list({ order: 'asc' })) {
  const known: VideoTask = task;
  void known;
}
const horse = await client.models3d.waitFor('task_1');
export type Horse = Expect<Equal<typeof horse, SucceededNativeTask>>;
const glb: string | undefined = horse.output.results?.pbr_model_url ?? client.models3d.urlOf(horse);
void glb;
const asset = await client.assets.uploadAndWait({ url: address, asset_type: 'Image' });
const reference = `asset://${asset.Id}`;
const content = { type: 'image_url', image_url: { url: reference }, role: 'reference_image' } as const;
const cat = await client.officialVideos.createAndWait({
  model: 'epsilon-delta-2-0-260128',
  content: [content],
});
const frame: string | undefined = cat.content.last_frame_url;
void frame;
const record = await client.videoGenerations.waitFor('task_1');
const result: string = 'code' in record ? record.data.result_url : record.video_url;
void result;
// @ts-expect-error the model is required
await client.videos.create({ prompt: 'A boat.' });
// @ts-expect-error only the videos format has thumbnails
await client.models3d.downloadTo('task_1', 'x.glb', { variant: 'thumbnail' });
// @ts-expect-error there is no such order
await client.videos.list({ order: 'random' });
// @ts-expect-error an official task cannot be canceled like a native one
await client.officialVideos.cancel('task_1');

// Editors complete the known model ids, and every other id is accepted.
type Literal<Id> = Id extends string ? (string extends Id ? never : Id extends ModelId ? Id : never) : never;
type Known<Request extends { model?: string }> = Literal<Request['model']>;
export type KnownModels = [
  Expect<Equal<Known<EmbeddingRequest>, ProtocolModels['embeddings']>>,
  Expect<Equal<Known<MessageRequest>, ProtocolModels['messages']>>,
  Expect<Equal<Known<Model3dRequest>, ProtocolModels['native_3d']>>,
  Expect<Equal<Known<OfficialTaskRequest>, ProtocolModels['official']>>,
  Expect<Equal<Known<SpeechRequest>, ProtocolModels['synthesizer' | 'multimodal' | 'inference']>>,
  Expect<Equal<Literal<Parameters<typeof client.realtime>[0]>, ProtocolModels['realtime']>>,
  Expect<Equal<Literal<Parameters<typeof client.models.retrieve>[0]>, ModelId>>,
];
const other: string = 'of-another-gateway';
await client.models3d.create({ model: other, input: { prompt: 'A horse.' } });

// The encoding determines the type of the vectors.
const text = { model: 'theta-embedding-1', input: 'Hi.' };
const numbers: number[] | undefined = (await client.embeddings.create(text)).data[0]?.embedding;
const floats = await client.embeddings.create({ ...text, encoding_format: 'float' });
const packed = await client.embeddings.create({ ...text, encoding_format: 'base64' });
export type Vectors = Expect<
  Equal<[(typeof floats.data)[0]['embedding'], (typeof packed.data)[0]['embedding']], [number[], string]>
>;
void numbers;
// @ts-expect-error there is no such encoding
await client.embeddings.create({ ...text, encoding_format: 'hex' });

// A list is its first page, and yields the items of all pages.
const page = await client.tokens.list({ p: 2 });
export type TokensPage = Expect<Equal<typeof page, Schemas['TokenListReply']['data']>>;
for await (const token of client.tokens.list()) void token.name.length;
for await (const { items } of client.logs.search({ keyword: 'a' }).pages()) void items[0]?.request_id;

// Every operation except the sockets can be called by its id.
export type Sockets = Expect<
  Equal<Exclude<OperationId, CallableOperation>, 'openInferenceSocket' | 'openRealtimeSocket'>
>;
// @ts-expect-error a socket is not opened with a call
await client.call('openRealtimeSocket', { params: { query: { model: 'm' } } });
// @ts-expect-error there is no such operation
await client.call('createSpeach');
// @ts-expect-error the body is required
await client.call('createEmbedding');
// @ts-expect-error the path parameter is required
await client.call('getVideo');
// @ts-expect-error the path parameter has another name
await client.call('getVideo', { params: { path: { id: 'x' } } });

const list = await client.call('listModels');
export type List = Expect<Equal<typeof list, Schemas['ModelListReply']>>;
const video = await client.call('getVideo', { params: { path: { task_id: 'x' } } });
export type Video = Expect<Equal<typeof video, Schemas['VideoTask']>>;
const bytesOfVideo = await client.call('downloadVideoContent', { params: { path: { task_id: 'x' } } });
export type Content = Expect<Equal<typeof bytesOfVideo, ArrayBuffer>>;
const stream = await client.call('createSpeech', { body: speech, parseAs: 'stream' });
export type Stream = Expect<Equal<typeof stream, ReadableStream<Uint8Array>>>;
const { data, requestId } = await client.callWithResponse('listModels', { timeout: 5 });
export type Reply = Expect<
  Equal<[typeof data, typeof requestId], [Schemas['ModelListReply'], string | undefined]>
>;
export type Health = Expect<
  Equal<OperationData<'getHealth', CallArguments<'getHealth'>>, Schemas['HealthReply']>
>;

// The raw client has every path, also those of the compatible prefixes.
export type Raw = Expect<Equal<typeof client.http, HttpClient>>;
const tracks = await client.http.GET('/sigma/v1/mv-3.5/fetch/{task_id}', {
  params: { path: { task_id: 'x' } },
});
if (tracks.error) void tracks.error.error.message;
// @ts-expect-error no such path
await client.http.GET('/v2/models');

// Music, lyrics and image jobs.
const songs = await client.music.createAndWait({ mv: 'chirp-hawk', prompt: 'A song.', custom_mode: 0 });
export type Songs = Expect<Equal<typeof songs, Song[]>>;
// @ts-expect-error no such version
await client.music.create({ mv: 'chirp-v9', prompt: 'A song.' });
const verse: string = (await client.lyrics.waitFor('task_1')).data.text;
await client.music.downloadTo('clip', verse, { variant: 'wav' });
const grid = await client.imageJobs.createAndWait({ prompt: 'a harbour' });
const pressed = await client.imageJobs.press(grid, 'U1', { prompt: verse });
export type Pressed = Expect<Equal<typeof pressed.code, 1 | 21 | 22>>;

// Callbacks: the kind determines the type of the task.
const delivery = await verifyDelivery('{}', new Headers(), ['old', 'new'], { toleranceMs: 1_000 });
if (delivery.kind === 'music') void delivery.task.data[0]?.audio_url;
else if (delivery.kind === 'lyrics') void delivery.task.data?.text;
else if (delivery.kind === 'image') void delivery.task.buttons[0]?.label;
else void delivery.task.content?.video_url;
// @ts-expect-error the signature covers the text, not the parsed body
await verifyDelivery({ task_id: 'x' }, {}, 'secret');

// Errors.
try {
  await client.models.list();
} catch (error) {
  if (error instanceof RateLimitError) error.headers.get('retry-after');
  if (error instanceof TaskFailedError && error.task && 'status' in error.task) {
    const status: string = error.task.status;
    void status;
  }
  if (error instanceof APIError) {
    const facts: [number, string | undefined, string | undefined] = [
      error.status,
      error.code,
      error.requestId,
    ];
    void facts;
  }
}
