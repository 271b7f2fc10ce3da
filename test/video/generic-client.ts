import { expect, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { recordResponse } from '../support/recorded-errors.ts';

export type VideoTask = components['schemas']['VideoTask'];

export interface Refusal {
  error: { code: string; message: string; request_id: string };
}

export interface Told<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** The generic video routes of a gateway, as a client with that key calls them. */
export class GenericClient {
  readonly #url: string;
  readonly #key: string;

  constructor({ url, key }: { url: string; key: string }) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends JSON, or a form as it is. */
  async call<Body = Refusal>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Told<Body>> {
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

  /** Starts a task that must be taken. */
  async create(body: object, path = '/v1/videos'): Promise<VideoTask> {
    const told = await this.call<VideoTask>('POST', path, body);
    expect(told.status, JSON.stringify(told.body)).toBe(200);
    return asTask(told.body);
  }

  async show(id: string, path = '/v1/videos'): Promise<VideoTask> {
    const told = await this.call<VideoTask>('GET', `${path}/${id}`);
    expect(told.status, JSON.stringify(told.body)).toBe(200);
    return asTask(told.body);
  }

  /** The task when it is completed, and all that was shown of it until then. */
  async watch(id: string, path: string): Promise<{ ended: VideoTask; seen: VideoTask[] }> {
    const seen: VideoTask[] = [];
    const ended = await vi.waitFor(
      async () => {
        const task = await this.show(id, path);
        seen.push(task);
        if (task.status !== 'completed') throw new Error(`it is ${JSON.stringify(task)}`);
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );
    return { ended, seen };
  }

  /** The task once it is in that state. */
  async until(id: string, wanted: VideoTask['status'], path = '/v1/videos'): Promise<VideoTask> {
    return vi.waitFor(
      async () => {
        const task = await this.show(id, path);
        if (task.status !== wanted) throw new Error(`it is ${JSON.stringify(task)}`);
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );
  }
}

const json = { 'content-type': 'application/json' };

function asTask(task: VideoTask): VideoTask {
  const place = { pointer: '#/components/schemas/VideoTask', schema: {} };
  expect(schemaProblems(place, task)).toEqual([]);
  return task;
}
