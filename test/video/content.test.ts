import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reportedStatuses } from '../media/reported-statuses.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { type ErrorBody, GenericClient } from './generic-client.ts';

const eta = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };

describe('from the sandbox', () => {
  let target: TestGateway;
  let client: GenericClient;
  let video: string;
  let whole: Buffer;
  beforeAll(async () => {
    target = await startTestGateway();
    client = new GenericClient(target);
    video = (await client.create(eta)).id;
    const { video_url = '' } = await client.waitForStatus(video, 'completed');
    whole = Buffer.from(await (await fetch(video_url)).arrayBuffer());
  });
  afterAll(() => target.close());

  const get = async (query = '', headers: Record<string, string> = {}, id = video, method = 'GET') => {
    const response = await client.fetch(`/v1/videos/${id}/content${query}`, { method, headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  };
  const told = ({ bytes }: { bytes: Buffer }) => (JSON.parse(bytes.toString('utf8')) as ErrorBody).error;

  test('the whole file', async () => {
    const { status, headers, bytes } = await get();
    expect(status).toBe(200);
    expect(bytes.equals(whole)).toBe(true);
    expect(bytes.subarray(4, 8).toString('latin1')).toBe('ftyp');
    expect(headers.get('content-type')).toBe('video/mp4');
    expect(headers.get('content-length')).toBe(String(whole.length));
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  test.each([
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, undefined],
    ['bytes=-50', -50, undefined],
    ['bytes=0-', 0, undefined],
    ['bytes=7-7', 7, 8],
  ])('%s', async (range, start, end) => {
    const { status, headers, bytes } = await get('', { range });
    const wanted = whole.subarray(start, end);
    expect(status).toBe(206);
    expect(bytes.equals(wanted)).toBe(true);
    const first = start < 0 ? whole.length + start : start;
    const last = first + wanted.length - 1;
    expect(headers.get('content-range')).toBe(`bytes ${first}-${last}/${whole.length}`);
    expect(headers.get('content-length')).toBe(String(wanted.length));
  });

  test.each(['bytes=5-2', 'bytes=0-1,4-5', 'frames=0-1', 'bytes=-', 'bytes=a-b'])(
    'the whole file for %s',
    async (range) => {
      const { status, headers, bytes } = await get('', { range });
      expect([status, bytes.length, headers.get('content-range')]).toEqual([200, whole.length, null]);
    },
  );

  test('416 for a part behind its end', async () => {
    const refused = await get('', { range: 'bytes=99999999-' });
    expect([refused.status, told(refused).code]).toEqual([416, 'range_not_satisfiable']);
    expect(refused.headers.get('content-range')).toBe(`bytes */${whole.length}`);
  });

  test('HEAD tells the headers only', async () => {
    const { status, headers, bytes } = await get('', {}, video, 'HEAD');
    expect([status, bytes.length, headers.get('content-length')]).toEqual([200, 0, String(whole.length)]);
  });

  test('a thumbnail is there when the model makes a last frame', async () => {
    const none = await get('?variant=thumbnail');
    expect([none.status, told(none).code]).toEqual([404, 'resource_not_found']);
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

  test('nothing before the end, and nothing of what failed or ran out', async () => {
    const prompts = ['[[never]]', '[[sensitive]]', '[[expired-url]]'];
    const [never = '', failed = '', expired = ''] = await Promise.all(
      prompts.map(async (prompt) => (await client.create({ ...eta, prompt })).id),
    );
    const early = await get('', {}, never);
    expect([early.status, told(early).code]).toEqual([400, 'task_not_completed']);
    await client.waitForStatus(failed, 'failed');
    const lost = await get('', {}, failed);
    expect([lost.status, told(lost).code]).toEqual([404, 'resource_not_found']);
    await client.waitForStatus(expired, 'completed');
    const over = await get('', {}, expired);
    expect([over.status, told(over).code]).toEqual([404, 'resource_not_found']);
  });
});

describe('from a provider that misbehaves', () => {
  let files: { url: string; seen: IncomingMessage[]; close(): void };
  let serve: (request: IncomingMessage, response: ServerResponse) => void;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let client: GenericClient;
  let path: string;
  /** Epoch milliseconds; undefined: as it is. */
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
      const answer = method === 'POST' ? { request_id: 't' } : { status: 'done', video };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
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

  test('a file is there until it expires, and not at that moment', async () => {
    serve = (_, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end('clip');
    const row = await target.gateway.store.read
      .selectFrom('tasks')
      .select('expires_at')
      .executeTakeFirstOrThrow();
    now = (row.expires_at ?? 0) - 1;
    expect((await client.fetch(path)).status).toBe(200);
    now += 1;
    const gone = await client.call('GET', path);
    expect([gone.status, gone.body.error.code]).toEqual([404, 'resource_not_found']);
    expect(files.seen).toHaveLength(1);
    now = undefined;
  });

  test('it is asked without any key, and for a file that is not packed', async () => {
    serve = (_, response) => response.writeHead(200, { 'content-type': 'binary/octet-stream' }).end('clip');
    const response = await client.fetch(path, { headers: { range: 'bytes=0-3' } });
    expect([response.status, await response.text()]).toEqual([200, 'clip']);
    // Neither the provider's word nor the file's beginning names the type here, but the file's name does.
    expect(response.headers.get('content-type')).toBe('video/quicktime');
    const [{ headers, url } = { headers: {}, url: '' }] = files.seen;
    expect(url).toBe('/clip.mov?signature=9f2c');
    expect(headers).toMatchObject({ range: 'bytes=0-3', 'accept-encoding': 'identity' });
    expect(headers).not.toHaveProperty('authorization');
  });

  test.each(['text/html; charset=utf-8', 'application/json', 'application/problem+json', 'application/xml'])(
    'what calls itself %s is no video, and is not handed out as one',
    async (type) => {
      serve = (_, response) => response.writeHead(200, { 'content-type': type }).end('<script>');
      const told = await client.call('GET', path);
      expect([told.status, told.body.error.code]).toEqual([502, 'bad_response_status_code']);
    },
  );

  test('a redirect is followed, and the client is never sent there', async () => {
    serve = ({ url }, response) => {
      if (url === '/elsewhere') response.writeHead(200, { 'content-type': 'video/mp4' }).end('moved');
      else response.writeHead(302, { location: '/elsewhere' }).end();
    };
    const response = await client.fetch(path, { redirect: 'error' });
    expect([response.status, await response.text()]).toEqual([200, 'moved']);
  });

  test.each(reportedStatuses)('returns %s as %s', async (status, expected, code) => {
    serve = (_, response) => response.writeHead(status).end(status === 204 ? undefined : files.url);
    const told = await client.call('GET', path);
    expect([told.status, told.body.error.code]).toEqual([expected, code]);
    expect(JSON.stringify(told.body)).not.toContain('127.0.0.1');
  });

  test('a circle of redirects ends', async () => {
    serve = (_, response) => response.writeHead(302, { location: '/again' }).end();
    expect((await client.call('GET', path)).status).toBe(502);
    expect(files.seen.length).toBeLessThan(10);
  });

  test('a part that nobody asked for', async () => {
    serve = (_, response) => response.writeHead(206, { 'content-range': 'bytes 0-3/9' }).end('clip');
    expect((await client.call('GET', path)).status).toBe(502);
  });

  test('no connection', async () => {
    serve = ({ socket }) => socket.destroy();
    const { status, body } = await client.call('GET', path);
    expect([status, body.error.code]).toEqual([502, 'do_request_failed']);
  });

  test('a file that breaks off breaks the answer off', async () => {
    serve = ({ socket }, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000' });
      response.write('clip', () => socket.destroy());
    };
    const response = await client.fetch(path);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  test('a client that leaves ends the fetch', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    serve = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'video/mp4' });
      response.write('clip');
    };
    const leaving = new AbortController();
    const response = await client.fetch(path, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await closed;
    expect(files.seen).toHaveLength(1);
  });

  test('a client that does not read holds the provider back', async () => {
    let written = 0;
    let closed: Promise<unknown> = Promise.resolve();
    const most = 64 * 1024 * 1024;
    serve = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'video/mp4' });
      const piece = Buffer.alloc(256 * 1024);
      const more = () => {
        while (written < most) {
          written += piece.length;
          if (response.write(piece)) continue;
          response.once('drain', more);
          return;
        }
      };
      more();
    };
    const leaving = new AbortController();
    const response = await client.fetch(path, { signal: leaving.signal });
    expect(response.status).toBe(200);
    // Nothing has moved while the gateway has answered all these: it is held back, or all has gone through.
    for (let before = -1; before !== written; ) {
      before = written;
      for (let round = 0; round < 20; round += 1) await client.fetch('/healthz');
    }
    expect(written).toBeLessThan(most);
    leaving.abort();
    await closed;
  });
});
