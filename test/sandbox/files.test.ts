import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Exchange } from '../../server/sandbox/http/exchange.ts';
import { FileStore } from '../../server/sandbox/http/file-store.ts';
import { Storage } from '../../server/sandbox/storage.ts';
import { multimodalPath, useSandbox } from './sandbox-client.ts';

const day = 24 * 60 * 60 * 1000;
let time = Date.UTC(2026, 0, 1);
const client = useSandbox({ now: () => time });

async function speak() {
  const body = { model: 'alpha3-tts-flash', input: { text: 'Hello there.', voice: 'Aria' } };
  const { reply, file } = await client.speak(multimodalPath, body);
  return { audio: reply.output.audio, url: new URL(reply.output.audio.url), file };
}

describe('signed URLs', () => {
  test('expire after 24 hours', async () => {
    const { audio, url } = await speak();
    expect(audio.expires_at).toBe((time + day) / 1000);
    expect(url.searchParams.get('expires')).toBe(String(audio.expires_at));
    time += day - 1000;
    expect((await fetch(url)).status).toBe(200);
    time += 1000;
    const late = await fetch(url);
    expect(late.status).toBe(403);
    expect(await late.json()).toMatchObject({ code: 'AccessDenied', request_id: expect.any(String) });
  });

  test.each([
    ['a later expiry', (url: URL) => url.searchParams.set('expires', String(time))],
    ['another signature', (url: URL) => url.searchParams.set('signature', '0'.repeat(64))],
    ['a short signature', (url: URL) => url.searchParams.set('signature', 'abc')],
    ['no signature', (url: URL) => url.searchParams.delete('signature')],
    ['no expiry', (url: URL) => url.searchParams.delete('expires')],
  ])('reject %s', async (_case, tamper) => {
    const { url } = await speak();
    tamper(url);
    expect((await fetch(url)).status).toBe(403);
  });

  test.each(['/files/nothing.wav', '/files/x', '/files/%00.wav?expires=99999999999&signature=a'])(
    'return 404 for %s',
    async (path) => {
      expect((await fetch(client.sandbox.url + path)).status).toBe(404);
    },
  );

  test('reject another extension', async () => {
    const { url } = await speak();
    url.pathname = url.pathname.replace('.wav', '.mp3');
    expect((await fetch(url)).status).toBe(404);
  });
});

describe('download', () => {
  test('has type and length, including HEAD', async () => {
    const { url, file } = await speak();
    const response = await fetch(url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('content-length')).toBe(String(file.length));
    expect(await response.text()).toBe('');
  });

  test.each([
    ['bytes=0-3', 0, 4],
    ['bytes=44-', 44, undefined],
    ['bytes=-10', -10, undefined],
    ['bytes=-999999999', 0, undefined],
    ['bytes=10-999999999', 10, undefined],
  ])('serves %s', async (range, start, end) => {
    const { url, file } = await speak();
    const response = await fetch(url, { headers: { range } });
    const expected = file.subarray(start, end);
    const first = start < 0 ? file.length + start : start;
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(
      `bytes ${first}-${first + expected.length - 1}/${file.length}`,
    );
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  });

  test('rejects a range outside the file and ignores an invalid one', async () => {
    const { url, file } = await speak();
    const outside = await fetch(url, { headers: { range: `bytes=${file.length}-` } });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${file.length}`]);
    expect((await fetch(url, { headers: { range: 'lines=1-2' } })).status).toBe(200);
  });
});

test('evicts the least recently used file', async () => {
  const storage = new Storage();
  onTestFinished(() => storage.close());
  const store = new FileStore({ folder: 'files', storage, maxBytes: 25, now: () => time });
  const put = () => new URL(store.storeAndSign(Buffer.alloc(10), 'wav'), 'http://sandbox');
  const get = async (url: URL): Promise<number> => {
    const response = { writeHead: (status: number) => ({ end: () => status }), end: () => {} };
    const writeHead = vi.spyOn(response, 'writeHead');
    await store.serve({ request: { headers: {} }, response, url } as unknown as Exchange);
    return writeHead.mock.calls[0]?.[0] ?? 0;
  };
  const [first, second] = [put(), put()];
  expect(await get(first)).toBe(200);
  const third = put();
  expect(await get(first)).toBe(200);
  await expect(get(second)).rejects.toMatchObject({ status: 404 });
  expect(await get(third)).toBe(200);
});

test('a reopened store has the complete files, and deletes incomplete ones', async () => {
  const storage = new Storage();
  onTestFinished(() => storage.close());
  const options = { folder: 'files', storage, maxBytes: 25, now: () => time };
  const name = new FileStore(options).store(Buffer.from('ten bytes.'), 'wav', time + day);
  const directory = join(storage.folder, 'files');
  writeFileSync(join(directory, 'half.wav.part'), 'ten');
  const store = new FileStore(options);
  expect(readdirSync(directory)).toEqual([name]);
  const others = [10, 10].map((size) => store.store(Buffer.alloc(size), 'wav', time + 2 * day));
  // The existing files count towards the limit and are evicted first.
  expect(readdirSync(directory).toSorted()).toEqual(others.toSorted());
});
