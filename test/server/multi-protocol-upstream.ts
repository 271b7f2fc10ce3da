import type { ServerResponse } from 'node:http';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** Requests that contain this word complete. All others keep their first state. */
export const completionMarker = 'ready';

type ScriptedResponse = readonly [status: number, body: unknown];

/**
 * Starts an upstream that speaks every task protocol and records its requests. It also serves assets, songs, custom
 * voices and verification sessions.
 */
export async function startMultiProtocolUpstream(name: string): Promise<RecordingUpstream> {
  const isCompleted = new Map<string, boolean>();
  const create = (body: unknown): string => {
    const id = `${name}-${isCompleted.size + 1}`;
    isCompleted.set(id, JSON.stringify(body).includes(completionMarker));
    return id;
  };
  const upstream = await startUpstream((request, response) => {
    const [path = ''] = request.path.split('?');
    if (path.startsWith('/file')) return void response.end('a file');
    send(response, responseTo(request, path));
  });
  const responseTo = ({ method, body }: SeenRequest, path: string): ScriptedResponse => {
    const creates = method === 'POST' && !path.endsWith('/cancel');
    const id = creates
      ? create(body)
      : decodeURIComponent(
          path
            .replace(/\/cancel$/, '')
            .split('/')
            .at(-1) ?? '',
        );
    const url = `${upstream.url}/file.mp4`;
    if (path.includes('/assets/')) {
      const state = isCompleted.get(id) ? { Status: 'Active', URL: url } : { Status: 'Processing' };
      return [200, { code: 0, message: 'success', data: { Id: id, ...(!creates && state) } }];
    }
    if (path.includes('/visual-validate/')) {
      const state =
        isCompleted.get(id) && !creates ? { status: 'verified', group_id: 'theirs' } : { status: 'pending' };
      return [200, { success: true, data: { session_id: id, h5_link: url, ...state } }];
    }
    if (path.endsWith('/customization')) return [200, customized(body, id)];
    if (path.includes('/tts/') || path.includes('/multimodal-generation/')) {
      return [200, { output: { finish_reason: 'stop', audio: { data: 'AA==' } }, usage: { characters: 1 } }];
    }
    if (path.startsWith('/api/v3/')) {
      if (method === 'DELETE') return [200, {}];
      return [
        200,
        isCompleted.get(id)
          ? { id, status: 'succeeded', content: { video_url: url } }
          : { id, status: 'queued' },
      ];
    }
    if (path.startsWith('/imgjob/')) {
      if (creates) return [200, { code: 1, description: 'Taken', result: id, properties: {} }];
      const job = path.split('/').at(-2) ?? '';
      const buttons = [{ customId: 'IJ::JOB::reroll::0::x::SOLO', label: 'Again' }];
      return [200, { status: isCompleted.get(job) ? 'SUCCESS' : 'MODAL', imageUrl: url, buttons }];
    }
    if (path.startsWith('/sigma/')) {
      if (creates) return [200, { code: 'success', message: '', data: id }];
      const song = { id: `clip-of-${id}`, audio_url: url, text: 'Words', status: 'streaming' };
      const status = isCompleted.get(id) ? 'SUCCESS' : 'IN_PROGRESS';
      return [200, { code: 'success', message: '', data: { task_id: id, status, data: [song] } }];
    }
    if (path.startsWith('/v1/videos/')) {
      if (creates) return [200, { request_id: id }];
      return [
        200,
        isCompleted.get(id) ? { status: 'done', video: { url, duration: 5 } } : { status: 'pending' },
      ];
    }
    const task_status = isCompleted.get(id) && !creates ? 'SUCCEEDED' : 'PENDING';
    const results = { video_url: url, results: { base_model_url: url } };
    return [200, { request_id: 'r', output: { task_id: id, task_status, ...results } }];
  };
  return upstream;
}

function customized(body: unknown, id: string): object {
  const { input } = body as { input: Record<string, string> };
  const output =
    input.action === 'create_voice'
      ? { voice_id: `${input.target_model}-${id}` }
      : input.action === 'create'
        ? { voice: `${input.preferred_name}-${id}`, target_model: input.target_model }
        : { status: 'OK', target_model: 'x', gmt_create: '', gmt_modified: '' };
  return { request_id: 'r', output, usage: { count: 1 } };
}

function send(response: ServerResponse, [status, body]: ScriptedResponse): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
