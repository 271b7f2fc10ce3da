import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { recordResponse, recordTaskCode } from '../support/recorded-errors.ts';
import { TaskRig } from '../support/task-rig.ts';
import { channelTo, type SeenRequest } from '../support/upstream.ts';
import { pair, timing, wav } from './sigma-answers.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Song = components['schemas']['Song'];
export type MusicRecord = components['schemas']['MusicTaskRecord'];

/** An upstream's response: status and body, or a closed connection. */
export type Answer = readonly [status: number, body: unknown] | 'hang up';

const channelKeys = { near: 'key-of-near', far: 'key-of-far' } as const;

/** A gateway with two accounts at a sigma upstream, the near one first, and a clock that can be advanced. */
export class SigmaRig extends TaskRig {
  readonly #change: Partial<Settings>;
  #made = 0;
  /** Fields of every task in the upstream's responses. */
  reported: object = {};
  /** Replaces the default responses, by method and path without ids. */
  readonly instead = new Map<string, Answer>();

  constructor(change: Partial<Settings> = {}) {
    super();
    this.#change = change;
  }

  /** Upstream id of the latest task. */
  get upstreamId(): string {
    return `upstream-task-${this.#made}`;
  }

  async start(): Promise<void> {
    const models = ['sigma_music', 'sigma_lyrics'].map((id) => ({ id, upstream: undefined }));
    const channel = (url: string, name: 'near' | 'far', priority: number) =>
      channelTo(url, { name, protocol: 'sigma', key: channelKeys[name], models, priority });
    await this.open(
      (request, response) => this.#answer(request, response),
      (url) => ({
        sandbox: false,
        channels: [channel(url, 'near', 1), channel(url, 'far', 0)],
        prices: { '*': 10 },
        ...this.#change,
      }),
    );
  }

  reset(): void {
    this.reported = { status: 'SUBMITTED' };
    this.instead.clear();
    this.upstream.seen.length = 0;
    for (const name of ['near', 'far']) this.gateway.gateway.channels.named(name)?.health.reset();
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    { key = this.gateway.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: Json }> {
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await recordResponse({ method, path }, response);
    return { status: response.status, body: (await response.json()) as Json };
  }

  /** Starts a task that must be accepted and returns its id. */
  async submit(body: object = {}, key = this.gateway.key): Promise<string> {
    const reported = await this.send('POST', '/sigma/submit/music', { prompt: 'The sea', ...body }, { key });
    expect(reported.status, JSON.stringify(reported.body)).toBe(200);
    return String(reported.body.data);
  }

  async submitLyrics(key = this.gateway.key): Promise<string> {
    const reported = await this.send('POST', '/sigma/submit/lyrics', { prompt: 'A lighthouse' }, { key });
    expect(reported.status, JSON.stringify(reported.body)).toBe(200);
    return String(reported.body.data);
  }

  /** Fetches the record of a task. */
  async fetch(id: string): Promise<MusicRecord> {
    const { status, body } = await this.send('GET', `/sigma/fetch/${id}`);
    expect(status, JSON.stringify(body)).toBe(200);
    expectSchema('MusicTaskReply', body);
    return body.data as MusicRecord;
  }

  /** Fetches the record after the gateway has polled the upstream. */
  async poll(id: string): Promise<MusicRecord> {
    const asked = () => this.upstream.seen.filter(({ path }) => path.startsWith('/sigma/fetch')).length;
    const before = asked();
    return vi.waitFor(
      async () => {
        await this.pass(60_000);
        const record = await this.fetch(id);
        const over = record.status === 'SUCCESS' || record.status === 'FAILURE';
        if (!over && asked() === before) throw new Error('the upstream was not asked yet');
        return record;
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** Creates a completed task and returns its songs. */
  async songs(reported: readonly unknown[] = pair, body: object = {}, key?: string): Promise<Song[]> {
    const id = await this.submit(body, key);
    this.reported = { status: 'SUCCESS', data: reported };
    return vi.waitFor(
      async () => {
        await this.pass(60_000);
        const { body: reported } = await this.send('GET', `/sigma/fetch/${id}`, undefined, {
          key: key ?? this.gateway.key,
        });
        const { status, data } = reported.data as MusicRecord;
        if (status !== 'SUCCESS') throw new Error(`it is ${status}`);
        return data as Song[];
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** The stored task. */
  async stored(id: string) {
    const { read } = this.gateway.gateway.store;
    const row = await read.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    recordTaskCode(row.error_code);
    return row;
  }

  /** Bodies of the upstream's create calls. */
  sent(): { path: string; body: Json; channel: string | undefined }[] {
    return this.upstream.seen
      .filter(({ path }) => path.startsWith('/sigma/submit/'))
      .map(({ path, body, headers }) => ({
        path,
        body: body as Json,
        channel: channelOf(headers.authorization),
      }));
  }

  #answer({ method, path, body }: SeenRequest, response: ServerResponse): void {
    const route = path.replace(/(?<=^\/sigma\/(?:fetch|act\/\w+))\/.*$/, '');
    const id = decodeURIComponent(path.split('/').at(-1) ?? '');
    const own = this.instead.get(`${method} ${route}`);
    if (own === 'hang up') response.destroy();
    else if (own !== undefined) sendJson(response, ...own);
    else if (route.startsWith('/sigma/submit/')) {
      this.#made += 1;
      sendJson(response, 200, { code: 'success', message: '', data: this.upstreamId });
    } else if (route === '/sigma/act/wav') sendJson(response, 200, { wav_file_url: wav });
    else if (route === '/sigma/act/timing') sendJson(response, 200, timing);
    else if (method === 'POST') {
      const { ids } = body as { ids: string[] };
      sendJson(response, 200, enveloped(ids.map((one) => this.#record(one))));
    } else sendJson(response, 200, enveloped(this.#record(id)));
  }

  #record(task_id: string): object {
    return { task_id, action: 'MUSIC', progress: '0%', fail_reason: '', data: [], ...this.reported };
  }
}

const enveloped = (data: unknown) => ({ code: 'success', message: '', data });

const channelOf = (authorization: string | undefined) =>
  Object.entries(channelKeys).find(([, key]) => authorization === `Bearer ${key}`)?.[0];

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function expectSchema(name: string, value: unknown): void {
  expect(schemaProblems({ pointer: `#/components/schemas/${name}`, schema: {} }, value), name).toEqual([]);
}

/** Starts a rig for the tests of a file. */
export function useSigmaRig(change?: Partial<Settings>): SigmaRig {
  const rig = new SigmaRig(change);
  beforeAll(() => rig.start());
  beforeEach(() => rig.reset());
  afterAll(() => rig.close());
  return rig;
}
