import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mediaOf } from '../mock/media.ts';

/** Media types by file ending. A prompt like `mov jpg` requests a video and a last frame of these types. */
const endings: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  glb: 'model/gltf-binary',
  bin: 'application/octet-stream',
};

export interface ScriptedProvider {
  url: string;
  /** While set, every response has this status. */
  failing: number | undefined;
  close(): Promise<void>;
}

/**
 * Starts an upstream whose tasks stay queued forever, except tasks whose prompt names files. Those complete at once.
 */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: ScriptedProvider = {
    url,
    failing: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '' } = request;
    const json = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (provider.failing !== undefined) {
      json(provider.failing, { code: 'Scripted', message: 'Scripted failure.', request_id: 'r1' });
      return;
    }
    const [, ending = ''] = /^\/files\/\w+\.(\w+)$/.exec(path) ?? [];
    if (ending !== '') {
      sendFile(ending, request.headers.range, response);
      return;
    }
    const id = decodeURIComponent(path.split('?', 1)[0]?.split('/').at(-1) ?? '');
    if (path.endsWith('/audio/tts/customization')) {
      json(200, { request_id: 'r1', output: customizationOutput(chunks), usage: { count: 1 } });
    } else if (path.startsWith('/api/assets/')) {
      json(200, { code: 0, message: '', data: { Id: 'asset-20260301120000-k3v9q', Status: 'Processing' } });
    } else if (path.startsWith('/sigma/')) {
      json(200, music(path, id));
    } else if (path.includes('/visual-validate/')) {
      json(200, { success: true, message: '', data: verificationSession(method, url, id) });
    } else if (path.startsWith('/imgjob/')) {
      json(200, imageJob(method, path));
    } else if (path.startsWith('/api/v3/')) {
      json(200, method === 'POST' ? { id: namedFiles(chunks) } : officialTask(url, id));
    } else {
      const output = { task_id: id, task_status: 'PENDING' };
      json(200, { request_id: 'r1', output: { ...output, task_id: 'pending' } });
    }
  }
  return provider;
}

let created = 0;

/** Returns the output of a voice customization call. */
function customizationOutput(chunks: readonly Buffer[]): object {
  const { model, input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
    model: string;
    input: { action: string; target_model?: string; voice?: string };
  };
  const voice = `voice-${++created}`;
  switch (input.action) {
    case 'create_voice':
      return { voice_id: voice };
    case 'query_voice':
      return { status: 'OK', gmt_create: time, gmt_modified: time, target_model: 'voxa-v3.5-flash' };
    case 'create':
      return { voice, target_model: input.target_model };
    case 'query':
      return { voice: input.voice, gmt_create: time, gmt_modified: time, target_model: model };
    case 'delete':
      return { voice: input.voice };
    default:
      return {};
  }
}

/** Returns responses for music tasks and for the seeded song. */
function music(path: string, id: string): object {
  if (path.startsWith('/sigma/act/wav/')) return { wav_file_url: 'https://files.example/low-tide.wav' };
  if (path.startsWith('/sigma/act/timing/')) return { aligned_words: [], waveform_data: [] };
  const data = path.startsWith('/sigma/submit/') ? 'waiting' : { task_id: id, status: 'SUBMITTED', data: [] };
  return { code: 'success', message: '', data };
}

/** Returns a session that stays pending. */
function verificationSession(method: string, url: string, id: string): object {
  const session_id = method === 'POST' ? `vs_${++created}` : id;
  return { session_id, vendor_token: session_id, h5_link: `${url}/h5`, status: 'pending' };
}

const time = '2026-02-01 09:30:00';

/** Returns an image job. Jobs with the id `waiting` wait for the modal call, the others stay submitted. */
function imageJob(method: string, path: string): object {
  const result = path.endsWith('/modal') ? 'waiting' : 'submitted';
  if (method === 'POST') return { code: 1, description: 'submitted', result, properties: {} };
  return { status: path.includes('/waiting') ? 'MODAL' : 'SUBMITTED', progress: '0%' };
}

/** Returns the task id: the file endings in the prompt. */
function namedFiles(chunks: readonly Buffer[]): string {
  const { content } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { content: { text?: string }[] };
  const words = (content[0]?.text ?? '').split(' ').filter((word) => word in endings);
  return words.length === 0 ? 'waiting' : words.join('-');
}

function officialTask(url: string, id: string): object {
  const facts = { id, model: 'any', created_at: 1, updated_at: 2, error: null };
  if (id === 'waiting') return { ...facts, status: 'queued' };
  const [video = 'mp4', frame = 'png'] = id.split('-');
  return {
    ...facts,
    status: 'succeeded',
    content: { video_url: `${url}/files/a.${video}`, last_frame_url: `${url}/files/a.${frame}` },
    usage: { completion_tokens: 1, total_tokens: 1 },
    duration: 5,
  };
}

function sendFile(ending: string, range: string | undefined, response: ServerResponse): void {
  const type = endings[ending] ?? '';
  const file = ending === 'bin' ? Buffer.alloc(1_000, 'bin') : mediaOf(type);
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (from === undefined) {
    response.writeHead(200, { 'content-type': type, 'content-length': file.length }).end(file);
    return;
  }
  const part = file.subarray(Number(from), Number(to) + 1);
  const contentRange = `bytes ${from}-${to}/${file.length}`;
  response.writeHead(206, { 'content-type': type, 'content-range': contentRange }).end(part);
}
