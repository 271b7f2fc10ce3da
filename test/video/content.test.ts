import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reportedStatuses } from '../media/reported-statuses.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { type ErrorBody, GenericClient } from './generic-client.ts';

const eta = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };

describe('content of a sandbox video', () => {
  let target: TestGateway;
  let client: GenericClient;
  let video: string;
  let completeFile: Buffer;
  beforeAll(async () => {
    target = await startTestGateway();
    client = new GenericClient(target);
    video = (await client.create(eta)).id;
    const { video_url = '' } = await client.waitForStatus(video, 'completed');
    completeFile = Buffer.from(await (await fetch(video_url)).arrayBuffer());
  });
  afterAll(() => target.close());

  const get = async (query = '', headers: Record<string, string> = {}, id = video, method = 'GET') => {
    const response = await client.fetch(`/v1/videos/${id}/content${query}`, { method, headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  };
  const errorOf = ({ bytes }: { bytes: Buffer }) => (JSON.parse(bytes.toString('utf8')) as ErrorBody).error;

  test('is the complete file', async () => {
    const { status, headers, bytes } = await get();
    expect(status).toBe(200);
    expect(bytes.equals(completeFile)).toBe(true);
    expect(bytes.subarray(4, 8).toString('latin1')).toBe('ftyp');
    expect(headers.get('content-type')).toBe('video/mp4');
    expect(headers.get('content-length')).toBe(String(completeFile.length));
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  test.each([
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, undefined],
    ['bytes=-50', -50, undefined],
    ['bytes=0-', 0, undefined],
    ['bytes=7-7', 7, 8],
  ])('is partial for the range %s', async (range, start, end) => {
    const { status, headers, bytes } = await get('', { range });
    const wanted = completeFile.subarray(start, end);
    expect(status).toBe(206);
    expect(bytes.equals(wanted)).toBe(true);
    const first = start < 0 ? completeFile.length + start : start;
    const last = first + wanted.length - 1;
    expect(headers.get('content-range')).toBe(`bytes ${first}-${last}/${completeFile.length}`);
    expect(headers.get('content-length')).toBe(String(wanted.length));
  });

  test.each(['bytes=5-2', 'bytes=0-1,4-5', 'frames=0-1', 'bytes=-', 'bytes=a-b'])(
    'is the complete file for the range %s',
    async (range) => {
      const { status, headers, bytes } = await get('', { range });
      expect([status, bytes.length, headers.get('content-range')]).toEqual([200, completeFile.length, null]);
    },
  );

  test('is a 416 for a range beyond the end', async () => {
    const refusal = await get('', { range: 'bytes=99999999-' });
    expect([refusal.status, errorOf(refusal).code]).toEqual([416, 'range_not_satisfiable']);
    expect(refusal.headers.get('content-range')).toBe(`bytes */${completeFile.length}`);
  });

  test('has only headers for HEAD', async () => {
    const { status, headers, bytes } = await get('', {}, video, 'HEAD');
    expect([status, bytes.length, headers.get('content-length')]).toEqual([
      200,
      0,
      String(completeFile.length),
    ]);
  });

  test('has a thumbnail if the model creates a last frame', async () => {
    const none = await get('?variant=thumbnail');
    expect([none.status, errorOf(none).code]).toEqual([404, 'resource_not_found']);
    const { id } = await client.create({
      model: 'epsilon-delta-2-0-260128',
      prompt: 'A paper boat.',
      seconds: '4',
      size: '480p',
      metadata: { return_last_frame: true },
    });
    await client.waitForStatus(id, 'completed');
    const frame = await get('?variant=thumbnail', {}, id);
    expect([frame.status, frame.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(frame.bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
    const clip = await get('?variant=video', {}, id);
    expect([clip.status, clip.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });

  test('is an error before completion, after a failure and after expiry', async () => {
    const prompts = ['[[never]]', '[[sensitive]]', '[[expired-url]]'];
    const [pending = '', failed = '', expired = ''] = await Promise.all(
      prompts.map(async (prompt) => (await client.create({ ...eta, prompt })).id),
    );
    const ofPending = await get('', {}, pending);
    expect([ofPending.status, errorOf(ofPending).code]).toEqual([400, 'task_not_completed']);
    await client.waitForStatus(failed, 'failed');
    const ofFailed = await get('', {}, failed);
    expect([ofFailed.status, errorOf(ofFailed).code]).toEqual([404, 'resource_not_found']);
    await client.waitForStatus(expired, 'completed');
    const ofExpired = await get('', {}, expired);
    expect([ofExpired.status, errorOf(ofExpired).code]).toEqual([404, 'resource_not_found']);
  });
});

describe('content from a misbehaving provider', () => {
  let files: { url: string; seen: IncomingMessage[]; close(): void };
  let serve: (request: IncomingMessage, response: ServerResponse) => void;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let client: GenericClient;
  let path: string;
  /** Epoch milliseconds. Undefined: the real time. */
  let now: number | undefined;
  beforeAll(async () => {
    const server = createServer((request, response) => {
      files.seen.push(request);
      serve(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    files = {
      url,
      seen: [],
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    };
    upstream = await startUpstream(({ method }, response) => {
      const video = { url: `${url}/clip.mov?signature=9f2c`, duration: 2 };
      const taskResponse = method === 'POST' ? { request_id: 't' } : { status: 'done', video };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(taskResponse));
    });
    const channels = [channelTo(upstream.url, { protocol: 'eta' })];
    target = await startTestGateway({ sandbox: false, channels }, 'sqlite', () => now ?? Date.now());
    client = new GenericClient(target);
    const { id } = await client.create(eta);
    await client.waitForStatus(id, 'completed');
    path = `/v1/videos/${id}/content`;
  });
  beforeEach(() => {
    files.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    files.close();
  });

  test('is available until just before it expires', async () => {
    serve = (_, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end('clip');
    const row = await target.gateway.store.read
      .selectFrom('tasks')
      .select('expires_at')
      .executeTakeFirstOrThrow();
    now = (row.expires_at ?? 0) - 1;
    expect((await client.fetch(path)).status).toBe(200);
    now += 1;
    const afterExpiry = await client.call('GET', path);
    expect([afterExpiry.status, afterExpiry.body.error.code]).toEqual([404, 'resource_not_found']);
    expect(files.seen).toHaveLength(1);
    now = undefined;
  });

  test('is requested without a key, and uncompressed', async () => {
    serve = (_, response) => response.writeHead(200, { 'content-type': 'binary/octet-stream' }).end('clip');
    const response = await client.fetch(path, { headers: { range: 'bytes=0-3' } });
    expect([response.status, await response.text()]).toEqual([200, 'clip']);
    // Neither the content type nor the first bytes identify the format, but the file name does.
    expect(response.headers.get('content-type')).toBe('video/quicktime');
    const [{ headers, url } = { headers: {}, url: '' }] = files.seen;
    expect(url).toBe('/clip.mov?signature=9f2c');
    expect(headers).toMatchObject({ range: 'bytes=0-3', 'accept-encoding': 'identity' });
    expect(headers).not.toHaveProperty('authorization');
  });

  test.each(['text/html; charset=utf-8', 'application/json', 'application/problem+json', 'application/xml'])(
    'with the content type %s is rejected as not a video',
    async (type) => {
      serve = (_, response) => response.writeHead(200, { 'content-type': type }).end('<script>');
      const reply = await client.call('GET', path);
      expect([reply.status, reply.body.error.code]).toEqual([502, 'bad_response_status_code']);
    },
  );

  test('follows a redirect without forwarding it to the client', async () => {
    serve = ({ url }, response) => {
      if (url === '/elsewhere') response.writeHead(200, { 'content-type': 'video/mp4' }).end('moved');
      else response.writeHead(302, { location: '/elsewhere' }).end();
    };
    const response = await client.fetch(path, { redirect: 'error' });
    expect([response.status, await response.text()]).toEqual([200, 'moved']);
  });

  test.each(reportedStatuses)('returns %s as %s', async (status, expected, code) => {
    serve = (_, response) => response.writeHead(status).end(status === 204 ? undefined : files.url);
    const reply = await client.call('GET', path);
    expect([reply.status, reply.body.error.code]).toEqual([expected, code]);
    expect(JSON.stringify(reply.body)).not.toContain('127.0.0.1');
  });

  test('does not follow endless redirects', async () => {
    serve = (_, response) => response.writeHead(302, { location: '/again' }).end();
    expect((await client.call('GET', path)).status).toBe(502);
    expect(files.seen.length).toBeLessThan(10);
  });

  test('is a 502 for a range that was not requested', async () => {
    serve = (_, response) => response.writeHead(206, { 'content-range': 'bytes 0-3/9' }).end('clip');
    expect((await client.call('GET', path)).status).toBe(502);
  });

  test('is a 502 without a connection', async () => {
    serve = ({ socket }) => socket.destroy();
    const { status, body } = await client.call('GET', path);
    expect([status, body.error.code]).toEqual([502, 'do_request_failed']);
  });

  test('breaks off if the file breaks off', async () => {
    serve = ({ socket }, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000' });
      response.write('clip', () => socket.destroy());
    };
    const response = await client.fetch(path);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  test('closes the connection to the provider when the client disconnects', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    serve = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'video/mp4' });
      response.write('clip');
    };
    const controller = new AbortController();
    const response = await client.fetch(path, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await closed;
    expect(files.seen).toHaveLength(1);
  });

  test('stops reading from the provider while the client does not read', async () => {
    let written = 0;
    let closed: Promise<unknown> = Promise.resolve();
    const maxBytes = 64 * 1024 * 1024;
    serve = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'video/mp4' });
      const chunk = Buffer.alloc(256 * 1024);
      const writeMore = () => {
        while (written < maxBytes) {
          written += chunk.length;
          if (response.write(chunk)) continue;
          response.once('drain', writeMore);
          return;
        }
      };
      writeMore();
    };
    const controller = new AbortController();
    const response = await client.fetch(path, { signal: controller.signal });
    expect(response.status).toBe(200);
    // The count did not change during 20 requests: the provider is paused, or has sent everything.
    for (let before = -1; before !== written; ) {
      before = written;
      for (let round = 0; round < 20; round += 1) await client.fetch('/healthz');
    }
    expect(written).toBeLessThan(maxBytes);
    controller.abort();
    await closed;
  });
});
