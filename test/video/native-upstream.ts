import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** What a scripted upstream answers: a status with JSON or text, or a broken connection. */
export interface Scripted {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  hangUp?: boolean;
}

/** A native upstream that answers as told and records what it is asked. */
export class NativeUpstream {
  /** The only id it gives out until it is reset, and the only one it knows; clients must never see it. */
  id = '';
  create: Scripted = {};
  /** Answers to polls, one after the other; the last one stays. */
  polls: Scripted[] = [];
  cancel: Scripted = { body: { request_id: 'upstream-request' } };
  #recording: RecordingUpstream | undefined;

  static async start(): Promise<NativeUpstream> {
    const upstream = new NativeUpstream();
    upstream.#recording = await startUpstream((request, response) =>
      send(response, upstream.#answer(request)),
    );
    upstream.reset();
    return upstream;
  }

  get url(): string {
    return this.#recording?.url ?? '';
  }

  get seen(): SeenRequest[] {
    return this.#recording?.seen ?? [];
  }

  /** What was to change something, without polls. */
  get changes(): SeenRequest[] {
    return this.#recording?.changes() ?? [];
  }

  /** Forgets everything, takes tasks, and leaves them pending. */
  reset(): void {
    this.id = randomUUID();
    this.seen.length = 0;
    this.create = {
      body: { output: { task_id: this.id, task_status: 'PENDING' }, request_id: 'upstream-request' },
    };
    this.polls = [this.state('PENDING')];
    this.cancel = { body: { request_id: 'upstream-request' } };
  }

  /** The answer to a poll in a state. */
  state(task_status: string, output: object = {}, usage?: object): Scripted {
    return {
      body: {
        request_id: 'upstream-request',
        output: { task_id: this.id, task_status, ...output },
        ...(usage && { usage }),
      },
    };
  }

  close(): Promise<void> | undefined {
    return this.#recording?.close();
  }

  #answer({ method, path }: SeenRequest): Scripted {
    if (path === `/api/v1/tasks/${this.id}/cancel` && method === 'POST') return this.cancel;
    if (path === `/api/v1/tasks/${this.id}` && method === 'GET')
      return (this.polls.length > 1 ? this.polls.shift() : this.polls[0]) ?? {};
    return method === 'POST' ? this.create : { status: 404, body: 'no such task' };
  }
}

function send(response: ServerResponse, { status = 200, body = '', headers = {}, hangUp }: Scripted): void {
  if (hangUp) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
