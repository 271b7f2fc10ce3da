import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { post } from '../server/ledger.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { TaskRig } from '../support/task-rig.ts';
import { channelTo, type SeenRequest } from '../support/upstream.ts';

export const officialPath = '/api/v3/contents/generations/tasks';
export const seedance25 = 'epsilon-delta-2-5-260628';
export const seedance20 = 'epsilon-delta-2-0-260128';
export const text = { type: 'text', text: 'A cat walks' };
export const genericPath = '/v1/video/generations';
export const videosPath = '/v1/videos';
export const url = 'https://files.example/cat.mp4?signature=1';
export const frame = 'https://files.example/cat.png?signature=1';

/** The upstream's response for a finished task. */
export const finished = {
  status: 'succeeded',
  error: null,
  content: { video_url: url, last_frame_url: frame },
  usage: { completion_tokens: 108_900, total_tokens: 108_901, tool_usage: { web_search: 2 } },
  created_at: 1,
  updated_at: 2,
  seed: 0,
  resolution: '720p',
  ratio: '16:9',
  duration: 5,
  framespersecond: 24,
  service_tier: 'default',
  execution_expires_after: 172_800,
  generate_audio: false,
  draft: false,
  priority: 0,
  revised_prompt: 'A cat walks slowly',
  tools: [{ type: 'web_search' }],
  output_format: 'mov',
};
export const failure = {
  code: 'OutputVideoSensitiveContentDetected',
  message: 'The output may be sensitive',
};

export type Json = Readonly<Record<string, unknown>>;
type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** A gateway whose only channel speaks the official protocol, with its upstream and a manual clock. */
export class SeedanceRig extends TaskRig {
  #taskCount = 0;
  /** The upstream's response to a poll of any task. */
  taskState: unknown;
  /** Handlers that replace those of the upstream, by method. */
  readonly overrides = new Map<string, Answer>();

  /** The upstream's id for its latest task. */
  get upstreamId(): string {
    return `cgt-20260301120000-up${this.#taskCount}`;
  }

  async start(): Promise<void> {
    const models = [
      { id: seedance20, upstream: undefined },
      { id: seedance25, upstream: 'other-name' },
    ];
    await this.open(
      (request, response) => this.#answer(request, response),
      (url) => ({
        sandbox: false,
        channels: [channelTo(url, { protocol: 'official', models })],
        prices: { '*': 10 },
      }),
    );
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    const override = this.overrides.get(request.method);
    if (override !== undefined) override(request, response);
    else if (request.method === 'POST') {
      this.#taskCount += 1;
      sendJson(response, 200, { id: this.upstreamId });
    } else if (request.method === 'DELETE') response.writeHead(200, { 'content-length': 0 }).end();
    else if (typeof this.taskState === 'string') response.writeHead(200).end(this.taskState);
    else sendJson(response, 200, { id: this.upstreamId, model: 'other-name', ...(this.taskState as object) });
  }

  reset(): void {
    this.taskState = { status: 'queued' };
    this.overrides.clear();
    this.upstream.seen.length = 0;
  }

  post(path: string, body: object, key = this.gateway.key): Promise<Response> {
    return post(this.gateway.url, key, path, body);
  }

  /** Creates a task at a route and returns its public id. */
  async create(change: object = {}, path = officialPath, key = this.gateway.key): Promise<string> {
    const body =
      path === officialPath
        ? { model: seedance25, content: [text], duration: 5, ...change }
        : { model: seedance25, prompt: 'A cat walks', seconds: '5', ...change };
    const response = await this.post(path, body, key);
    const task = (await response.json()) as { id: string };
    expect(response.status, JSON.stringify(task)).toBe(200);
    expect(task.id).toMatch(/^task_[a-z0-9]{32}$/i);
    return task.id;
  }

  async send(method: string, path: string, key = this.gateway.key): Promise<{ status: number; body: Json }> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(this.gateway.url + path, { method, headers });
    await recordResponse({ method, path }, response);
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Json) };
  }

  /** Returns the response to a poll after the next poll of the upstream. */
  async poll(id: string, path = officialPath): Promise<Json> {
    const pollCount = () => this.upstream.seen.filter(({ method }) => method === 'GET').length;
    const before = pollCount();
    return await vi.waitFor(
      async () => {
        await this.pass(60_000);
        const { status, body } = await this.send('GET', `${path}/${id}`);
        expect(status).toBe(200);
        expectSchema(schemas[path] ?? '', body);
        if (pollCount() === before && !isFinal(body)) throw new Error('the upstream was not polled yet');
        return body;
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** Bodies of the requests to create tasks. */
  sent(): unknown[] {
    return this.upstream.seen.filter(({ method }) => method === 'POST').map(({ body }) => body);
  }
}

const schemas: Readonly<Record<string, string>> = {
  [officialPath]: 'OfficialTask',
  '/v1/video/generations': 'FamilyRecord',
  '/v1/videos': 'VideoTask',
};

function isFinal(body: Json): boolean {
  const { status } = (body.data ?? body) as { status: string };
  return !['queued', 'running', 'in_progress', 'SUBMITTED', 'QUEUED', 'IN_PROGRESS'].includes(status);
}

export function expectSchema(name: string, value: unknown): void {
  expect(schemaProblems({ pointer: `#/components/schemas/${name}`, schema: {} }, value), name).toEqual([]);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Starts a rig for the tests of a file and resets it before each test. */
export function useSeedanceRig(): SeedanceRig {
  const rig = new SeedanceRig();
  beforeAll(() => rig.start());
  beforeEach(() => rig.reset());
  afterAll(() => rig.close());
  return rig;
}
