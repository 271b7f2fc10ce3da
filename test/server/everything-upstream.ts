import type { ServerResponse } from 'node:http';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** Whatever is asked for with this word in it gets done; all else stays as it began. */
export const ready = 'ready';

type Answer = readonly [status: number, body: unknown];

/**
 * An upstream with everything that can be owned, in every protocol of tasks: those, assets, songs, custom voices and
 * verification sessions. It records what it is asked.
 */
export async function startEverythingUpstream(name: string): Promise<RecordingUpstream> {
  const done = new Map<string, boolean>();
  const make = (body: unknown): string => {
    const id = `${name}-${done.size + 1}`;
    done.set(id, JSON.stringify(body).includes(ready));
    return id;
  };
  const upstream = await startUpstream((request, response) => {
    const [path = ''] = request.path.split('?');
    if (path.startsWith('/file')) return void response.end('a file');
    send(response, answer(request, path));
  });
  const answer = ({ method, body }: SeenRequest, path: string): Answer => {
    const creates = method === 'POST' && !path.endsWith('/cancel');
    const id = creates
      ? make(body)
      : decodeURIComponent(
          path
            .replace(/\/cancel$/, '')
            .split('/')
            .at(-1) ?? '',
        );
    const url = `${upstream.url}/file.mp4`;
    if (path.includes('/assets/')) {
      const told = done.get(id) ? { Status: 'Active', URL: url } : { Status: 'Processing' };
      return [200, { code: 0, message: 'success', data: { Id: id, ...(!creates && told) } }];
    }
    if (path.includes('/visual-validate/')) {
      const told =
        done.get(id) && !creates ? { status: 'verified', group_id: 'theirs' } : { status: 'pending' };
      return [200, { success: true, data: { session_id: id, h5_link: url, ...told } }];
    }
    if (path.endsWith('/customization')) return [200, customized(body, id)];
    if (path.includes('/tts/') || path.includes('/multimodal-generation/')) {
      return [200, { output: { finish_reason: 'stop', audio: { data: 'AA==' } }, usage: { characters: 1 } }];
    }
    if (path.startsWith('/api/v3/')) {
      if (method === 'DELETE') return [200, {}];
      return [
        200,
        done.get(id) ? { id, status: 'succeeded', content: { video_url: url } } : { id, status: 'queued' },
      ];
    }
    if (path.startsWith('/imgjob/')) {
      if (creates) return [200, { code: 1, description: 'Taken', result: id, properties: {} }];
      const job = path.split('/').at(-2) ?? '';
      const buttons = [{ customId: 'IJ::JOB::reroll::0::x::SOLO', label: 'Again' }];
      return [200, { status: done.get(job) ? 'SUCCESS' : 'MODAL', imageUrl: url, buttons }];
    }
    if (path.startsWith('/sigma/')) {
      if (creates) return [200, { code: 'success', message: '', data: id }];
      const song = { id: `clip-of-${id}`, audio_url: url, text: 'Words', status: 'streaming' };
      const status = done.get(id) ? 'SUCCESS' : 'IN_PROGRESS';
      return [200, { code: 'success', message: '', data: { task_id: id, status, data: [song] } }];
    }
    if (path.startsWith('/v1/videos/')) {
      if (creates) return [200, { request_id: id }];
      return [200, done.get(id) ? { status: 'done', video: { url, duration: 5 } } : { status: 'pending' }];
    }
    const state = done.get(id) && !creates ? 'SUCCEEDED' : 'PENDING';
    const results = { video_url: url, results: { base_model_url: url } };
    return [200, { request_id: 'r', output: { task_id: id, task_status: state, ...results } }];
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

function send(response: ServerResponse, [status, body]: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
