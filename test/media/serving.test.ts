import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FileOwner } from '../../server/media/file-links.ts';
import { FileRelay } from '../../server/media/file-relay.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { channelTo } from '../support/upstream.ts';
import { reportedStatuses } from './reported-statuses.ts';

interface FileServer {
  url: string;
  seen: IncomingMessage[];
  close(): void;
}

async function startFileServer(serve: (one: IncomingMessage, other: ServerResponse) => void) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

const clip = Buffer.from('0123456789');
const day = 24 * 60 * 60_000;

let files: FileServer;
let target: TestGateway;
let serve: (request: IncomingMessage, response: ServerResponse) => void;
/** Epoch milliseconds. Undefined for the system clock. */
let now: number | undefined;

beforeAll(async () => {
  files = await startFileServer((request, response) => serve(request, response));
  const channels = [
    channelTo(files.url, { name: 'inside', relayMedia: true }),
    channelTo(files.url, { name: 'outside', relayMedia: true, privateFiles: false }),
  ];
  target = await startTestGateway({ sandbox: false, channels }, 'sqlite', () => now ?? Date.now());
});
afterAll(async () => {
  await target.close();
  files.close();
});
beforeEach(() => {
  files.seen.length = 0;
  now = undefined;
  const headers = { 'content-type': 'video/mp4', 'content-length': clip.length };
  serve = (_, response) => response.writeHead(200, headers).end(clip);
});

const owner: FileOwner = { channel: 'inside', userId: 1, expiresAt: null };

const linkTo = (path: string, change: Partial<FileOwner> = {}, at = files.url) =>
  target.gateway.files.linksFor(target.url).publicUrl(at + path, { ...owner, ...change });

const send = async (link: string, init: RequestInit = {}) =>
  recordResponse({ method: init.method ?? 'get', path: new URL(link).pathname }, await fetch(link, init));

async function errorOf(link: string, init?: RequestInit) {
  const response = await send(link, init);
  const text = await response.text();
  expect(text).not.toContain('127.0.0.1');
  return [response.status, (JSON.parse(text) as { error: { code: string } }).error.code];
}

describe('a link', () => {
  test('serves the file without a key and sends no key to the provider', async () => {
    const response = await send(linkTo('/a/clip.mp4?signature=9f2c'));
    expect([response.status, await response.text()]).toEqual([200, clip.toString()]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '10',
      'content-disposition': 'inline; filename="video.mp4"',
      'accept-ranges': 'bytes',
      'cache-control': 'private',
      'x-content-type-options': 'nosniff',
    });
    const [{ headers, url } = { headers: {}, url: '' }] = files.seen;
    expect(url).toBe('/a/clip.mp4?signature=9f2c');
    expect(headers).not.toHaveProperty('authorization');
  });

  test.each([
    ['/a.mp4', 'application/octet-stream', 'video/mp4', 'video.mp4'],
    ['/a.MOV', 'binary/octet-stream', 'video/quicktime', 'video.mov'],
    ['/a.mp3', 'audio/mp3', 'audio/mpeg', 'audio.mp3'],
    ['/a.png', 'image/svg+xml', 'image/png', 'image.png'],
    ['/a.svg', 'image/svg+xml', 'application/octet-stream', 'file'],
    ['/a.html', 'application/octet-stream', 'application/octet-stream', 'file'],
    ['/a', 'audio/wav', 'audio/wav', 'file'],
    ['/a.glb', '', 'model/gltf-binary', 'model.glb'],
    ['/a.js', 'image/gif', 'application/octet-stream', 'file'],
    ['/a.json', 'application/json', 'application/octet-stream', 'file.json'],
    ['/a.srt', 'text/plain; charset=utf-8', 'application/octet-stream', 'file.srt'],
  ])('to %s with the media type %s is served as %s', async (path, reported, shown, name) => {
    serve = (_, response) =>
      response.writeHead(200, reported === '' ? {} : { 'content-type': reported }).end(clip);
    const response = await send(linkTo(path));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, shown]);
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="${name}"`);
    expect(await response.text()).toBe(clip.toString());
  });

  test.each([
    ['/a.mp4', 'text/html; charset=utf-8'],
    ['/a.mp4', 'application/json'],
    ['/a.mp4', 'application/javascript'],
    ['/a.json', 'text/html'],
    ['/a.json', 'application/xml'],
    ['/a', 'application/xhtml+xml'],
  ])('to %s with the media type %s is rejected', async (path, type) => {
    serve = (_, response) => response.writeHead(200, { 'content-type': type }).end('<script>');
    expect(await errorOf(linkTo(path))).toEqual([502, 'bad_response_status_code']);
  });

  test('allows any origin, also for ranges', async () => {
    const preflight = await send(linkTo('/clip.mp4'), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'range',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/(^|, )range(,|$)/);
    const response = await send(linkTo('/clip.mp4'), { headers: { origin: 'https://page.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('content-range');
    await response.arrayBuffer();
    const withoutOrigin = await send(linkTo('/clip.mp4'));
    expect(withoutOrigin.headers.get('access-control-allow-origin')).toBe('*');
    await withoutOrigin.arrayBuffer();
  });
});

describe('ranges', () => {
  beforeEach(() => {
    serve = ({ headers: { range } }, response) => {
      const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
      if (from === undefined) return void response.writeHead(200, { 'content-type': 'video/mp4' }).end(clip);
      if (Number(from) >= clip.length)
        return void response.writeHead(416, { 'content-range': `bytes */${clip.length}` }).end();
      const start = from === '' ? clip.length - Number(to) : Number(from);
      const end = from === '' || to === '' ? clip.length - 1 : Number(to);
      response
        .writeHead(206, {
          'content-type': 'video/mp4',
          'content-range': `bytes ${start}-${end}/${clip.length}`,
        })
        .end(clip.subarray(start, end + 1));
    };
  });

  test.each([
    ['bytes=0-3', 'bytes 0-3/10', '0123'],
    ['bytes=7-', 'bytes 7-9/10', '789'],
    ['bytes=-2', 'bytes 8-9/10', '89'],
  ])('serves %s', async (range, contentRange, text) => {
    const response = await send(linkTo('/clip.mp4'), { headers: { range } });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      206,
      contentRange,
      text,
    ]);
  });

  test.each(['bytes=0-1,3-4', 'bytes=3-2', 'frames=1-2', 'bytes=x'])(
    'serves the whole file for %s',
    async (range) => {
      const response = await send(linkTo('/clip.mp4'), { headers: { range } });
      const served = [response.status, response.headers.get('content-range'), await response.text()];
      expect(served).toEqual([200, null, clip.toString()]);
    },
  );

  test('rejects a range outside the file, with its length if the provider reports it', async () => {
    const init = { headers: { range: 'bytes=10-' } };
    const response = await send(linkTo('/clip.mp4'), init);
    const { error } = (await response.json()) as { error: { code: string } };
    expect([response.status, error.code, response.headers.get('content-range')]).toEqual([
      416,
      'range_not_satisfiable',
      'bytes */10',
    ]);
    serve = (_, response) => response.writeHead(416, { 'content-range': 'host.example' }).end();
    const bare = await send(linkTo('/clip.mp4'), init);
    await bare.arrayBuffer();
    expect([bare.status, bare.headers.get('content-range')]).toEqual([416, null]);
  });

  test('responds to HEAD for the whole file by a GET of one byte', async () => {
    for (const headers of [{}, { range: 'bytes=3-5' }]) {
      const response = await send(linkTo('/clip.mp4'), { method: 'HEAD', headers });
      expect([response.status, response.headers.get('content-length')]).toEqual([200, '10']);
      expect(response.headers.get('content-range')).toBeNull();
      expect(response.headers.get('accept-ranges')).toBe('bytes');
      const { method, headers: sent } = files.seen.pop() ?? {};
      expect([method, sent?.range]).toEqual(['GET', 'bytes=0-0']);
    }
  });

  test('serves a range of a file of unknown length', async () => {
    serve = (_, response) => response.writeHead(206, { 'content-range': 'bytes 0-0/*' }).end('0');
    const part = await send(linkTo('/clip.mp4'), { headers: { range: 'bytes=0-0' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 0-0/*']);
    const head = await send(linkTo('/clip.mp4'), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, null]);
  });

  test.each(['bytes 1-1/9', 'bytes 0-0', 'bytes */9', 'frames 0-0/9', ''])(
    'rejects a part with the wrong content-range %j',
    async (contentRange) => {
      serve = (_, response) => response.writeHead(206, { 'content-range': contentRange }).end('0');
      const init = { headers: { range: 'bytes=0-0' } };
      expect(await errorOf(linkTo('/clip.mp4'), init)).toEqual([502, 'bad_response_status_code']);
    },
  );

  test('responds to HEAD for a host without ranges and for an empty file', async () => {
    serve = (_, response) => response.writeHead(200, { 'content-length': clip.length }).end(clip);
    const whole = await send(linkTo('/clip.mp4'), { method: 'HEAD' });
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '10']);
    serve = ({ headers: { range } }, response) =>
      response.writeHead(range === undefined ? 200 : 416, { 'content-length': 0 }).end();
    const empty = await send(linkTo('/clip.mp4'), { method: 'HEAD' });
    expect([empty.status, empty.headers.get('content-length')]).toEqual([200, '0']);
  });
});

describe('an invalid or expired link', () => {
  const notFound = [404, 'resource_not_found'];

  test('expires with its task, otherwise within 25 hours', async () => {
    const start = Date.UTC(2026, 10, 22, 8, 30);
    now = start;
    const ofTask = linkTo('/clip.mp4', { expiresAt: start + 5_000 });
    const plain = linkTo('/clip.mp4');
    now = start + 60_000;
    expect(linkTo('/clip.mp4')).toBe(plain);
    expect(await errorOf(ofTask)).toEqual(notFound);
    now = start + day;
    expect((await send(plain)).status).toBe(200);
    now = start + day + 60 * 60_000;
    expect(await errorOf(plain)).toEqual(notFound);
    expect(files.seen).toHaveLength(1);
  });

  test('expires at the exact millisecond', async () => {
    const end = Date.UTC(2026, 10, 22, 8, 30);
    const link = linkTo('/clip.mp4', { expiresAt: end });
    now = end - 1;
    expect((await send(link)).status).toBe(200);
    now = end;
    expect(await errorOf(link)).toEqual(notFound);
  });

  test('is rejected when changed, of another secret or of a removed channel', async () => {
    const link = linkTo('/clip.mp4');
    const token = new URL(link).pathname.split('/').at(-2) ?? '';
    const other = new FileRelay({
      secret: 'x'.repeat(43),
      channels: [channelTo(files.url, { name: 'inside', relayMedia: true })],
      defaultBaseUrl: () => target.url,
      clock: Date.now,
    });
    const gateway = new FileRelay({
      secret: await target.gateway.store.run('ensureSecret', { name: 'files', value: 'unused' }),
      channels: [channelTo(files.url, { name: 'removed', relayMedia: true })],
      defaultBaseUrl: () => target.url,
      clock: Date.now,
    });
    const changed = token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    for (const bad of [
      link.replace(token, changed),
      link.replace(token, token.slice(1)),
      other.linksFor(undefined).publicUrl(`${files.url}/clip.mp4`, owner),
      gateway.linksFor(undefined).publicUrl(`${files.url}/clip.mp4`, { ...owner, channel: 'removed' }),
    ])
      expect(await errorOf(bad)).toEqual(notFound);
    expect(files.seen).toEqual([]);
  });

  test.each(['POST', 'PUT', 'DELETE'])('rejects %s', async (method) => {
    expect(await errorOf(linkTo('/clip.mp4'), { method })).toEqual([405, 'method_not_allowed']);
  });
});

describe('a private network', () => {
  test('is not reached for a channel without private_files or for a URL of a client', async () => {
    for (const change of [{ channel: 'outside' }, { publicOnly: true }])
      expect(await errorOf(linkTo('/clip.mp4', change))).toEqual([502, 'bad_response']);
    for (const host of [
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0.0.0.0',
      '169.254.169.254',
    ]) {
      const link = linkTo('/latest', { channel: 'outside' }, `http://${host}:${new URL(files.url).port}`);
      expect(await errorOf(link)).toEqual([502, 'bad_response']);
    }
    expect(files.seen).toEqual([]);
  });

  test('is not reached by a redirect to another scheme', async () => {
    for (const location of ['file:///etc/hostname', 'ftp://127.0.0.1/', 'data:video/mp4;base64,AAAA']) {
      serve = (_, response) => response.writeHead(302, { location }).end();
      expect(await errorOf(linkTo('/moved.mp4'))).toEqual([502, 'bad_response']);
    }
  });

  test('is reached by a redirect with private_files, which the client does not see', async () => {
    serve = ({ url }, response) => {
      if (url === '/moved.mp4') response.writeHead(302, { location: '/clip.mp4' }).end();
      else response.writeHead(200, { 'content-type': 'video/mp4' }).end(clip);
    };
    const response = await send(linkTo('/moved.mp4'), { redirect: 'error' });
    expect([response.status, await response.text()]).toEqual([200, clip.toString()]);
  });
});

describe('a failing provider', () => {
  test.each(reportedStatuses)('maps its status %s to %s', async (status, expected, code) => {
    serve = (_, response) => response.writeHead(status).end(status === 204 ? undefined : files.url);
    expect(await errorOf(linkTo('/clip.mp4'))).toEqual([expected, code]);
  });

  test('maps a lost connection to 502', async () => {
    serve = ({ socket }) => socket.destroy();
    expect(await errorOf(linkTo('/clip.mp4'))).toEqual([502, 'do_request_failed']);
  });

  test('aborts the response when the file breaks off', async () => {
    serve = ({ socket }, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000' });
      response.write(clip, () => socket.destroy());
    };
    const response = await send(linkTo('/clip.mp4'));
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  test.each(['before the headers', 'in the middle'])(
    'aborts the fetch of a stalled file when the client disconnects %s',
    async (when) => {
      const requested = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      serve = (_, response) => {
        response.once('close', () => closed.resolve());
        if (when === 'in the middle') response.writeHead(200, { 'content-type': 'video/mp4' }).write(clip);
        requested.resolve();
      };
      const disconnect = new AbortController();
      const response = send(linkTo('/clip.mp4'), { signal: disconnect.signal });
      await requested.promise;
      if (when === 'in the middle') await (await response).body?.getReader().read();
      disconnect.abort();
      await Promise.allSettled([response]);
      await closed.promise;
      expect(files.seen).toHaveLength(1);
    },
  );

  test('streams a large file without buffering it', { timeout: 60_000 }, async () => {
    const size = 200 * 1024 * 1024;
    const chunk = Buffer.alloc(1024 * 1024);
    let [written, received, most] = [0, 0, 0];
    serve = (_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size });
      const more = () => {
        while (written < size) {
          written += chunk.length;
          most = Math.max(most, written - received);
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const response = await send(linkTo('/clip.mp4'));
    // The client does not read yet, so only socket buffers may fill.
    for (let before = -1; before !== written; ) {
      before = written;
      for (let round = 0; round < 20; round += 1) await (await fetch(`${target.url}/healthz`)).arrayBuffer();
    }
    expect(written).toBeLessThan(size / 2);
    for await (const part of response.body ?? []) received += (part as Uint8Array).length;
    expect(received).toBe(size);
    expect(most).toBeLessThan(size / 2);
  });
});
