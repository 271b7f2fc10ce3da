import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** A response of the upstream: a status with JSON or text, or a closed connection. */
export interface ScriptedResponse {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  disconnects?: boolean;
}

/** A native upstream that sends scripted responses and records its requests. */
export class NativeUpstream {
  /** The id of the only task, until `reset`. Clients must never receive it. */
  id = '';
  create: ScriptedResponse = {};
  /** Responses to polls, in order. The last one repeats. */
  polls: ScriptedResponse[] = [];
  cancel: ScriptedResponse = { body: { request_id: 'upstream-request' } };
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

  /** Requests that change something, without polls. */
  get changes(): SeenRequest[] {
    return this.#recording?.changes() ?? [];
  }

  /** Clears all requests and responses. New tasks are accepted and stay pending. */
  reset(): void {
    this.id = randomUUID();
    this.seen.length = 0;
    this.create = {
      body: { output: { task_id: this.id, task_status: 'PENDING' }, request_id: 'upstream-request' },
    };
    this.polls = [this.pollResponse('PENDING')];
    this.cancel = { body: { request_id: 'upstream-request' } };
  }

  /** Builds the response to a poll. */
  pollResponse(task_status: string, output: object = {}, usage?: object): ScriptedResponse {
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

  #answer({ method, path }: SeenRequest): ScriptedResponse {
    if (path === `/api/v1/tasks/${this.id}/cancel` && method === 'POST') return this.cancel;
    if (path === `/api/v1/tasks/${this.id}` && method === 'GET')
      return (this.polls.length > 1 ? this.polls.shift() : this.polls[0]) ?? {};
    return method === 'POST' ? this.create : { status: 404, body: 'no such task' };
  }
}

function send(
  response: ServerResponse,
  { status = 200, body = '', headers = {}, disconnects }: ScriptedResponse,
): void {
  if (disconnects) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
