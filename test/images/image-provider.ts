import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Settings } from '../../server/settings/settings.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { post } from '../server/ledger.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { TaskRig } from '../support/task-rig.ts';
import { channelTo, type SeenRequest } from '../support/upstream.ts';

export type Json = Readonly<Record<string, unknown>>;
type Answer = (request: SeenRequest, response: ServerResponse) => void;

export const button = { customId: 'IJ::JOB::upsample::1::9f2c', emoji: '', label: 'U1', type: 2, style: 2 };
export const inpaint = { ...button, customId: 'IJ::Inpaint::1::9f2c::SOLO', label: 'Vary (Region)' };
export const gridUrl = 'https://files.example/grid.png?signature=1';
export const finished = {
  action: 'IMAGINE',
  status: 'SUCCESS',
  progress: '100%',
  imageUrl: gridUrl,
  buttons: [button, inpaint],
  prompt: 'a harbour',
  promptEn: 'a harbour',
  properties: { finalPrompt: 'a harbour --v 6' },
};

const settingsFor = (url: string): Partial<Settings> => ({
  sandbox: false,
  channels: [channelTo(url, { name: 'images', protocol: 'imgjob' })],
  prices: { '*': 10 },
  callbacks: { allowPrivate: true, secret: undefined },
});

/** A gateway whose only channel has the imgjob protocol, its upstream, and a clock that can be advanced. */
export class ImageRig extends TaskRig {
  #made = 0;
  /** Response to submit calls. Undefined accepts the job. */
  submitted: Json | undefined;
  /** Response to queries of any job. A string is sent unchanged. */
  reported: unknown;
  /** Replaces the default responses, by method. */
  readonly instead = new Map<string, Answer>();

  /** Upstream id of the latest job. */
  get upstreamId(): string {
    return `17950000001234${this.#made}`;
  }

  async start(): Promise<void> {
    await this.open((request, response) => this.#answer(request, response), settingsFor);
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    const own = this.instead.get(request.method);
    if (own !== undefined) own(request, response);
    else if (request.method === 'POST') this.#submit(request, response);
    else if (typeof this.reported === 'string') response.writeHead(200).end(this.reported);
    else sendJson(response, { id: request.path.split('/').at(-2), ...(this.reported as object) });
  }

  #submit({ path }: SeenRequest, response: ServerResponse): void {
    if (!path.endsWith('/modal')) this.#made += 1;
    const taken = { code: 1, description: 'Submit success', result: this.upstreamId, properties: {} };
    sendJson(response, { ...taken, ...this.submitted });
  }

  reset(): void {
    this.submitted = undefined;
    this.reported = { status: 'SUBMITTED', progress: '0%' };
    this.instead.clear();
    this.upstream.seen.length = 0;
  }

  async submit(
    call: 'imagine' | 'action' | 'modal',
    body: object,
    { key = this.gateway.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: Json }> {
    const answer = await post(this.gateway.url, key, `/imgjob/submit/${call}`, body, { headers });
    const json = (await answer.json()) as Json;
    if (answer.status === 200) expectSchema('ImageSubmitReply', json);
    return { status: answer.status, body: json };
  }

  /** Starts a job and returns its public id. */
  async imagine(change: object = {}, key = this.gateway.key): Promise<string> {
    const { status, body } = await this.submit('imagine', { prompt: 'a harbour', ...change }, { key });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.result as string;
  }

  /** Creates a finished job with buttons. */
  async finish(change: object = {}, key = this.gateway.key): Promise<string> {
    const id = await this.imagine(change, key);
    this.reported = finished;
    expect(await this.query(id, key)).toMatchObject({ status: 'SUCCESS' });
    return id;
  }

  async get(id: string, key = this.gateway.key): Promise<{ status: number; body: Json }> {
    const path = `/imgjob/task/${id}/fetch`;
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(this.gateway.url + path, { headers });
    await recordResponse({ method: 'GET', path }, response);
    return { status: response.status, body: (await response.json()) as Json };
  }

  /** Returns the job after the gateway has polled all unfinished jobs. */
  async query(id: string, key = this.gateway.key): Promise<Json> {
    await this.pass(60_000);
    const { status, body } = await this.get(id, key);
    expect(status, JSON.stringify(body)).toBe(200);
    expectSchema('ImageJob', body);
    return body;
  }

  /** JSON bodies of a submit call that the upstream received. */
  sent(call: 'imagine' | 'action' | 'modal'): unknown[] {
    const path = `/imgjob/submit/${call}`;
    return this.upstream.seen.filter((request) => request.path === path).map(({ body }) => body);
  }
}

function expectSchema(name: string, value: unknown): void {
  expect(schemaProblems({ pointer: `#/components/schemas/${name}`, schema: {} }, value), name).toEqual([]);
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Starts a rig for the tests of a file or group. */
export function useImageRig(): ImageRig {
  const rig = new ImageRig();
  beforeAll(() => rig.start());
  beforeEach(() => rig.reset());
  afterAll(() => rig.close());
  return rig;
}
