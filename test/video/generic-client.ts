import { expect, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { recordResponse } from '../support/recorded-errors.ts';

export type VideoTask = components['schemas']['VideoTask'];

export interface ErrorBody {
  error: { code: string; message: string; request_id: string };
}

export interface ClientResponse<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** Calls the generic video routes of a gateway with a key. */
export class GenericClient {
  readonly #url: string;
  readonly #key: string;

  constructor({ url, key }: { url: string; key: string }) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends an object as JSON, or a form unchanged. */
  async call<Body = ErrorBody>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<ClientResponse<Body>> {
    const response = await this.fetch(path, {
      method,
      headers: { ...(body === undefined || body instanceof FormData ? {} : json), ...headers },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }

  async fetch(path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
    const response = await fetch(this.#url + path, {
      ...init,
      headers: { authorization: `Bearer ${this.#key}`, ...(headers as Record<string, string> | undefined) },
    });
    return recordResponse({ method: init.method ?? 'get', path }, response);
  }

  /** Creates a task and expects that it is accepted. */
  async create(body: object, path = '/v1/videos'): Promise<VideoTask> {
    const response = await this.call<VideoTask>('POST', path, body);
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    return asTask(response.body);
  }

  async get(id: string, path = '/v1/videos'): Promise<VideoTask> {
    const response = await this.call<VideoTask>('GET', `${path}/${id}`);
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    return asTask(response.body);
  }

  /** Polls a task until it is completed. Returns its final state and all states that the polls returned. */
  async waitForCompletion(id: string, path: string): Promise<{ final: VideoTask; seen: VideoTask[] }> {
    const seen: VideoTask[] = [];
    const final = await vi.waitFor(
      async () => {
        const task = await this.get(id, path);
        seen.push(task);
        if (task.status !== 'completed') throw new Error(`unexpected state: ${JSON.stringify(task)}`);
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );
    return { final, seen };
  }

  /** Polls a task until it has the given status. */
  async waitForStatus(id: string, expected: VideoTask['status'], path = '/v1/videos'): Promise<VideoTask> {
    return vi.waitFor(
      async () => {
        const task = await this.get(id, path);
        if (task.status !== expected) throw new Error(`unexpected state: ${JSON.stringify(task)}`);
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );
  }
}

const json = { 'content-type': 'application/json' };

function asTask(task: VideoTask): VideoTask {
  const location = { pointer: '#/components/schemas/VideoTask', schema: {} };
  expect(schemaProblems(location, task)).toEqual([]);
  return task;
}
