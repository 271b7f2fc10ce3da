/** Result of each program: model ids, the speech as a WAV file, and the task id as created and as polled. */
export interface CallResult {
  models: string[];
  audio: ArrayBuffer;
  task: { made: string; polled: string };
}

const video = `{ model: 'gamma3.0-video-prime', prompt: 'A boat.', seconds: '2', size: '480P' }`;
const speech = `{ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' }`;

/**
 * Programs that use the output of the generators of the same name, each written as the documentation of its generator
 * recommends. They are stored beside the generated code and export \`call\`, which returns a `CallResult`.
 */
export const programs: Readonly<Record<string, string>> = {
  'openapi-typescript': `import createClient from 'openapi-fetch';
import type { paths } from './openapi-typescript';

export async function call(baseUrl: string, key: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const models = await client.GET('/v1/models');
  const audio = await client.POST('/v1/audio/speech', { body: ${speech}, parseAs: 'arrayBuffer' });
  const made = await client.POST('/v1/videos', { body: ${video} });
  if (!models.data || !audio.data || !made.data) throw new Error('request failed');
  const path = { task_id: made.data.id };
  const polled = await client.GET('/v1/videos/{task_id}', { params: { path } });
  if (!polled.data) throw new Error(polled.error.error.message);
  return {
    models: models.data.data.map(({ id }) => id),
    audio: audio.data,
    task: { made: made.data.id, polled: polled.data.id },
  };
}
`,
  'swagger-typescript-api': `import { Api } from './swagger-typescript-api';

export async function call(baseUrl: string, key: string) {
  const api = new Api({ baseUrl, baseApiParams: { headers: { authorization: \`Bearer \${key}\` } } });
  const models = await api.v1.listModels();
  const audio = await api.v1.createSpeech(${speech}, { format: 'blob' });
  const made = await api.v1.createVideo(${video});
  const polled = await api.v1.getVideo(made.data.id);
  return {
    models: models.data.data.map(({ id }) => id),
    audio: await audio.data.arrayBuffer(),
    task: { made: made.data.id, polled: polled.data.id },
  };
}
`,
  'hey-api': `import { createClient } from './hey-api/client';
import { createSpeech, createVideo, getVideo, listModels } from './hey-api';

export async function call(baseUrl: string, key: string) {
  const client = createClient({ baseUrl, auth: key, throwOnError: true });
  const common = { client, throwOnError: true } as const;
  const models = await listModels(common);
  const audio = await createSpeech({ ...common, body: ${speech} });
  const made = await createVideo({ ...common, body: ${video} });
  const polled = await getVideo({ ...common, path: { task_id: made.data.id } });
  return {
    models: models.data.data.map(({ id }) => id),
    audio: await (audio.data as Blob).arrayBuffer(),
    task: { made: made.data.id, polled: polled.data.id },
  };
}
`,
  orval: `import { createSpeech, createVideo, getVideo, listModels } from './orval';

export async function call(_: string, key: string) {
  const options = { headers: { authorization: \`Bearer \${key}\` } };
  const models = await listModels(options);
  const audio = await createSpeech(${speech}, options);
  const made = await createVideo(${video}, options);
  if (models.status !== 200 || audio.status !== 200 || made.status !== 200) throw new Error('request failed');
  const polled = await getVideo(made.data.id, options);
  if (polled.status !== 200) throw new Error(polled.data.error.message);
  return {
    models: models.data.data.map(({ id }) => id),
    audio: await (audio.data as Blob).arrayBuffer(),
    task: { made: made.data.id, polled: polled.data.id },
  };
}
`,
  'openapi-typescript-codegen': `import { ModelsService, OpenAPI, SpeechService, VideoService } from './openapi-typescript-codegen';

export async function call(baseUrl: string, key: string) {
  Object.assign(OpenAPI, { BASE: baseUrl, TOKEN: key });
  const models = await ModelsService.listModels();
  const audio = await SpeechService.createSpeech({ requestBody: ${speech} });
  const made = await VideoService.createVideo({ requestBody: ${video} });
  const polled = await VideoService.getVideo({ taskId: made.id });
  return {
    models: models.data.map(({ id }) => id),
    audio: await audio.arrayBuffer(),
    task: { made: made.id, polled: polled.id },
  };
}
`,
  oazapfts: `import { createSpeech, createVideo, defaults, getVideo, listModels } from './oazapfts';

export async function call(baseUrl: string, key: string) {
  Object.assign(defaults, { baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const models = await listModels();
  // The runtime decodes every body that is not JSON as text.
  let audio = new ArrayBuffer();
  const speech = await createSpeech(${speech}, {
    fetch: async (...request) => {
      const response = await fetch(...request);
      audio = await response.clone().arrayBuffer();
      return response;
    },
  });
  const made = await createVideo(${video});
  if (models.status !== 200 || speech.status !== 200 || made.status !== 200) throw new Error('request failed');
  const polled = await getVideo(made.data.id);
  if (polled.status !== 200) throw new Error(polled.data.error.message);
  return {
    models: models.data.data.map(({ id }) => id),
    audio,
    task: { made: made.data.id, polled: polled.data.id },
  };
}
`,
  'rtk-query': `import { configureStore } from '@reduxjs/toolkit';
import { settings } from './empty-api';
import { enhancedApi as api } from './rtk-query';

export async function call(baseUrl: string, key: string) {
  Object.assign(settings, { baseUrl, key });
  const store = configureStore({
    reducer: { [api.reducerPath]: api.reducer },
    // A Blob cannot be serialized.
    middleware: (own) => own({ serializableCheck: false }).concat(api.middleware),
  });
  const { listModels, createSpeech, createVideo, getVideo } = api.endpoints;
  const models = await store.dispatch(listModels.initiate()).unwrap();
  const audio = await store.dispatch(createSpeech.initiate({ speechRequest: ${speech} })).unwrap();
  const made = await store.dispatch(createVideo.initiate({ createVideoRequest: ${video} })).unwrap();
  const polled = await store.dispatch(getVideo.initiate({ taskId: made.id })).unwrap();
  return {
    models: models.data.map(({ id }) => id),
    audio: await (audio as unknown as Blob).arrayBuffer(),
    task: { made: made.id, polled: polled.id },
  };
}
`,
};

/** Result of `eventsProgram`: the size of the speech in bytes, and the types of the server events. */
export interface SpeechResult {
  bytes: number;
  types: string[];
}

/** A realtime session that uses the event types in `events.ts` beside it. */
export const eventsProgram = `import type {
  InputTextBufferAppend, InputTextBufferCommit, Realtime, SessionFinish, SessionUpdate,
} from './events';

type ClientEvent = SessionUpdate | InputTextBufferAppend | InputTextBufferCommit | SessionFinish;

export function speak(baseUrl: string, key: string): Promise<{ bytes: number; types: string[] }> {
  const url = baseUrl.replace('http', 'ws') + '/v1/realtime?model=alpha3-tts-flash-realtime';
  const socket = new WebSocket(url, ['realtime', 'openai-insecure-api-key.' + key]);
  const send = (event: ClientEvent) => socket.send(JSON.stringify(event));
  const types: string[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error('the socket failed'));
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as Realtime;
      types.push(event.type);
      if (event.type === 'session.created') {
        const session = { voice: 'Aria', mode: 'commit', response_format: 'pcm', sample_rate: 24000 } as const;
        send({ type: 'session.update', event_id: 'event_1', session });
      } else if (event.type === 'session.updated') {
        send({ type: 'input_text_buffer.append', event_id: 'event_2', text: 'Good morning.' });
        send({ type: 'input_text_buffer.commit', event_id: 'event_3' });
      } else if (event.type === 'response.audio.delta') bytes += atob(event.delta).length;
      else if (event.type === 'response.done') send({ type: 'session.finish', event_id: 'event_4' });
      else if (event.type === 'error') reject(new Error(event.error.message));
      else if (event.type === 'session.finished') {
        socket.close();
        resolve({ bytes, types });
      }
    };
  });
}
`;
