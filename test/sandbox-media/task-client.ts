import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type Exchange, sendJson } from '../../server/sandbox/http/exchange.ts';
import { internalError, NativeError } from '../../server/sandbox/http/native-error.ts';
import { Storage } from '../../server/sandbox/storage.ts';
import {
  createTaskUpstream,
  type TaskUpstream,
  type TaskUpstreamOptions,
} from '../../server/sandbox/task-upstream.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';

/** Duration of a task on the clock of the test. */
export const taskDurationMs = 10_000;

export interface Reply<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** The asynchronous upstream behind its own server, and the clock that controls it. */
export class TaskClient {
  url = '';
  /** Milliseconds since the epoch. */
  time = Date.UTC(2026, 2, 1, 12);

  advance(milliseconds: number): void {
    this.time += milliseconds;
  }

  async send<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) as Body };
  }

  /** Polls until the response matches. For changes that do not depend on the clock. */
  async until<Body>(path: string, wanted: (body: Body) => boolean, timeout = 18_000): Promise<Body> {
    return await vi.waitFor(
      async () => {
        const { body } = await this.send<Body>('GET', path);
        if (!wanted(body)) throw new Error(`Still ${JSON.stringify(body)}`);
        return body;
      },
      { timeout, interval: 20 },
    );
  }

  async download(url: string): Promise<{ bytes: Uint8Array; type: string | null }> {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      type: response.headers.get('content-type'),
    };
  }
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

/** Starts the upstream before the tests of the file and stops it afterwards. */
export function useTaskUpstream(options: Partial<TaskUpstreamOptions> = {}): TaskClient {
  const client = new TaskClient();
  let upstream: TaskUpstream;
  let server: Server;
  const storage = new Storage();
  beforeAll(async () => {
    const { url: address, server: started } = await listen((request, response) => {
      void handleRequest(upstream, request, response);
    });
    server = started;
    upstream = createTaskUpstream({
      storage,
      taskDurationMs,
      now: () => client.time,
      allowPrivateUrls: true,
      workers: 1,
      ...options,
    });
    upstream.setAddress(address);
    client.url = address;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    storage.close();
    await upstream.close();
  });
  return client;
}

/** The required part of the sandbox's router. Its errors have the native format. */
async function handleRequest(
  upstream: TaskUpstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const left = new AbortController();
  response.once('close', () => left.abort());
  const services = undefined as unknown as Exchange['services'];
  const exchange = { services, request, response, url, requestId: randomUUID(), signal: left.signal };
  try {
    const route = upstream.routes.find(
      ({ methods, path }) => methods.includes(request.method ?? '') && path.test(url.pathname),
    );
    if (!route) throw new NativeError(404, 'NotFound', 'No such route');
    await route.handler(exchange);
  } catch (error) {
    if (left.signal.aborted) return;
    const failure = error instanceof NativeError ? error : internalError(String(error));
    sendJson(exchange, failure.status, failure.body(exchange.requestId), { ...failure.headers });
  }
}

async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: Server }> {
  const server = createServer(handler);
  // Longer than a test blocks the thread, so that no connection is closed while a request is sent.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Files that the upstream can download. `address` of a missing file returns 404. */
export interface FileHost {
  address(name: string): string;
  put(name: string, bytes: Uint8Array): string;
  redirect(name: string, target: string): string;
}

/** Serves files while the tests of the file run. */
export function useFileHost(): FileHost {
  const files = new Map<string, Uint8Array | { target: string }>();
  let base = '';
  let server: Server;
  beforeAll(async () => {
    ({ url: base, server } = await listen((request, response) => {
      const file = files.get(request.url ?? '');
      if (!file) response.writeHead(404).end();
      else if ('target' in file) response.writeHead(302, { location: file.target }).end();
      else response.writeHead(200, { 'content-length': file.length }).end(file);
    }));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = (name: string) => `${base}/${name}`;
  return {
    address,
    put(name, bytes) {
      files.set(`/${name}`, bytes);
      return address(name);
    },
    redirect(name, target) {
      files.set(`/${name}`, { target });
      return address(name);
    },
  };
}

/** Validates a response against a schema of the contract. */
export function expectSchema(name: string, value: unknown): void {
  expect(schemaProblems({ pointer: `#/components/schemas/${name}`, schema: {} }, value), name).toEqual([]);
}
