import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { post } from '../server/books.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { TaskRig } from '../support/task-rig.ts';
import { channelTo, type SeenRequest } from '../support/upstream.ts';

export const officialPath = '/api/v3/contents/generations/tasks';
export const modern = 'epsilon-delta-2-5-260628';
export const standard = 'epsilon-delta-2-0-260128';
export const text = { type: 'text', text: 'A cat walks' };
export const genericPath = '/v1/video/generations';
export const videosPath = '/v1/videos';
export const url = 'https://files.example/cat.mp4?signature=1';
export const frame = 'https://files.example/cat.png?signature=1';

/** What an upstream tells of a finished task. */
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

/** A gateway whose only channel speaks the official protocol, its upstream, and a clock that can be set forward. */
export class SeedanceRig extends TaskRig {
  #made = 0;
  /** What the upstream tells of all of its tasks. */
  told: unknown;
  /** Answers instead of the upstream's own ways, by method. */
  readonly instead = new Map<string, Answer>();

  /** The upstream's id of its latest task. */
  get upstreamId(): string {
    return `cgt-20260301120000-up${this.#made}`;
  }

  async start(): Promise<void> {
    const models = [
      { id: standard, upstream: undefined },
      { id: modern, upstream: 'other-name' },
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
    const own = this.instead.get(request.method);
    if (own !== undefined) own(request, response);
    else if (request.method === 'POST') {
      this.#made += 1;
      sendJson(response, 200, { id: this.upstreamId });
    } else if (request.method === 'DELETE') response.writeHead(200, { 'content-length': 0 }).end();
    else if (typeof this.told === 'string') response.writeHead(200).end(this.told);
    else sendJson(response, 200, { id: this.upstreamId, model: 'other-name', ...(this.told as object) });
  }

  reset(): void {
    this.told = { status: 'queued' };
    this.instead.clear();
    this.upstream.seen.length = 0;
  }

  post(path: string, body: object, key = this.gateway.key): Promise<Response> {
    return post(this.gateway.url, key, path, body);
  }

  /** Starts a task at a route and gives its public id. */
  async create(change: object = {}, path = officialPath, key = this.gateway.key): Promise<string> {
    const body =
      path === officialPath
        ? { model: modern, content: [text], duration: 5, ...change }
        : { model: modern, prompt: 'A cat walks', seconds: '5', ...change };
    const response = await this.post(path, body, key);
    const made = (await response.json()) as { id: string };
    expect(response.status, JSON.stringify(made)).toBe(200);
    expect(made.id).toMatch(/^task_[a-z0-9]{32}$/i);
    return made.id;
  }

  async send(method: string, path: string, key = this.gateway.key): Promise<{ status: number; body: Json }> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(this.gateway.url + path, { method, headers });
    await recordResponse({ method, path }, response);
    const words = await response.text();
    return { status: response.status, body: words === '' ? {} : (JSON.parse(words) as Json) };
  }

  /** What a poll tells, once the upstream has been asked anew. */
  async poll(id: string, path = officialPath): Promise<Json> {
    const asked = () => this.upstream.seen.filter(({ method }) => method === 'GET').length;
    const before = asked();
    return await vi.waitFor(
      async () => {
        await this.pass(60_000);
        const { status, body } = await this.send('GET', `${path}/${id}`);
        expect(status).toBe(200);
        expectSchema(schemas[path] ?? '', body);
        if (asked() === before && !isOver(body)) throw new Error('the upstream was not asked yet');
        return body;
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** The JSON bodies that the upstream got to make tasks from. */
  sent(): unknown[] {
    return this.upstream.seen.filter(({ method }) => method === 'POST').map(({ body }) => body);
  }
}

const schemas: Readonly<Record<string, string>> = {
  [officialPath]: 'OfficialTask',
  '/v1/video/generations': 'FamilyRecord',
  '/v1/videos': 'VideoTask',
};

function isOver(body: Json): boolean {
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

/** A rig for the tests of a file. */
export function useSeedanceRig(): SeedanceRig {
  const rig = new SeedanceRig();
  beforeAll(() => rig.start());
  beforeEach(() => rig.reset());
  afterAll(() => rig.close());
  return rig;
}
