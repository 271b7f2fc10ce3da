import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../main.ts';
import { printable } from '../report/printable.ts';
import { Secrets } from '../report/secrets.ts';

const key = 'sk-Vm9pY2VzT2ZUaGVTZWFBbmRPZlRoZVdpbmQ0Mg';
const other = 'sk-QW5vdGhlcktleU9mQW5vdGhlclVzZXJPZlRoaXM';

/** Texts that contain a secret, and the secret. */
const leaks: readonly (readonly [where: string, text: string, secret: string])[] = [
  ['a header', `-H 'authorization: Bearer ${other}'`, other],
  ['an API key header', "-H 'x-api-key: abcdefgh12345678'", 'abcdefgh12345678'],
  ['a header of a failed request', 'curl -H "authorization: Bearer abcdefgh12345678"', 'abcdefgh12345678'],
  ['a cookie', "-H 'cookie: session=5b6c7d8e9f'", '5b6c7d8e9f'],
  ['a Basic header', "-H 'authorization: Basic dXNlcjpwYXNzd29yZA=='", 'dXNlcjpwYXNzd29yZA'],
  ['a subprotocol', "-H 'sec-websocket-protocol: realtime, openai-insecure-api-key.abcd1234'", 'abcd1234'],
  ['the query of a URL', 'https://a.example/v1?model=x&api_key=abcd1234&p=1', 'abcd1234'],
  ['a signed URL', 'https://a.example/f.mp4?X-Amz-Signature=0a1b2c3d4e&Expires=1', '0a1b2c3d4e'],
  ['the user of a URL', 'https://admin:hunter2@a.example/v1', 'hunter2'],
  ['a JSON body', '{"name":"a","key": "plain-secret","id":1}', 'plain-secret'],
  ['an escaped JSON body', String.raw`{"body":"{\"api_key\":\"plain-secret\"}"}`, 'plain-secret'],
  ['a truncated JSON body', '{"id":1,"vendor_token":"vt_9f8e7d6c5b', 'vt_9f8e7d6c5b'],
  ['a form', "-F 'password=hunter2'", 'hunter2'],
  ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'MfKQ9r8GKYqr'],
  ['the key of the run', `{"message":"no ${key}"}`, key],
  ['the start of the key of the run', `{"message":"no ${key.slice(0, 20)}`, key.slice(0, 12)],
  ['the encoded key of the run', encodeURIComponent(`a b/${key}`), key],
];

describe('masking', () => {
  test.each(leaks)('masks %s', (_where, text, secret) => {
    const masked = new Secrets([key]).mask(text);
    expect(masked).not.toContain(secret);
    expect(masked).toContain('***');
  });

  test('masks a key of any characters, escaped in any way', () => {
    const odd = `a"b'c&d/e f+g`;
    const secrets = new Secrets([odd]);
    for (const text of [odd, JSON.stringify({ odd }), encodeURIComponent(odd), odd.replaceAll("'", "'\\''")])
      expect(secrets.mask(text)).not.toMatch(/c&d|e f|e%20f/);
  });

  test('masks keys that a response contains, also elsewhere', () => {
    const secrets = new Secrets([]);
    secrets.collect({ data: { items: [{ key: 'tk.created-by-the-run', name: 'conformance' }] } });
    expect(secrets.mask('GET /x returned tk.created-by-the-run of conformance')).toBe(
      'GET /x returned *** of conformance',
    );
  });

  test('changes no other text', () => {
    const text =
      'max_tokens: must be at most 5; {"keyword":"a","total_tokens":7,"token_name":"b"} task_1b2c3d4e "$UNIGATE_API_KEY"';
    expect(new Secrets([key, '']).mask(text)).toBe(text);
  });
});

describe('bytes', () => {
  test.each([
    ['MP4', '\0\0\0\u0018ftypmp42\0\0\0\0'],
    ['an escape sequence', '{"message":"\u001b[31mred\u001b[0m \u009b2J"}'],
    ['invalid UTF-8', 'ID3\ufffd\ufffd\ufffd'],
  ])('prints no control characters of %s', (_what, text) => {
    // oxlint-disable-next-line no-control-regex
    expect(printable(text)).not.toMatch(/[\0-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/);
  });

  test('shortens Base64 and lines without end', () => {
    const audio = 'SUQzBAAAAAAAI1RTU0UAAAAPAAADTGF2ZjU4Ljc2LjEwMAAA'.repeat(40);
    expect(printable(`{"delta":"${audio}","id":"a"}`)).toBe('{"delta":"<Base64, 1920 characters>","id":"a"}');
    expect(printable('x '.repeat(20_000)).length).toBeLessThan(5_000);
  });
});

describe('a run', () => {
  let server: Server;
  let url: string;
  let folder: string;
  beforeAll(async () => {
    server = createServer(leakEverything);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  /** Responds to everything with the keys it received and others, as a header, in the body and in bytes. */
  function leakEverything(request: IncomingMessage, response: ServerResponse): void {
    const { authorization = '' } = request.headers;
    request.resume().on('end', () => {
      if (request.url?.startsWith('/readyz') === true)
        response
          .writeHead(200, { 'content-type': 'audio/mpeg' })
          .end(Buffer.from([0xff, 0xfb, 0, 27, 91, 7]));
      else
        response
          .writeHead(request.method === 'DELETE' ? 500 : 200, { 'content-type': 'application/json' })
          .end(
            JSON.stringify({
              success: true,
              message: `no ${authorization} ${request.url} ${other}`,
              data: { id: 5, key: 'tk.created-by-the-run', items: [{ id: 6, key: other, status: 1 }] },
            }),
          );
    });
  }

  test('writes no key and no bytes to any output', async () => {
    let out = '';
    const write = (text: string) => void (out += text);
    const [report, junit] = [join(folder, 'report.json'), join(folder, 'report.xml')];
    const names = ['tokens', 'getReadiness', 'openRealtimeSocket', 'uploadAsset'];
    const args = [
      '--base-url',
      url,
      '--key',
      key,
      '--callback-secret',
      'whsec_c2VjcmV0LW9mLXRoZS1ydW4=',
      '--runs',
      '1',
    ];
    const flags = [
      ...args,
      '--report',
      report,
      '--junit',
      junit,
      ...names.flatMap((name) => ['--only', name]),
    ];
    const io = { env: {}, stdout: { write }, stderr: { write } };
    expect(await run([...flags, '--timeout', '2'], io, '1.2.3')).toBe(1);
    const files = [await readFile(report, 'utf8'), await readFile(junit, 'utf8')];
    for (const text of [out, ...files]) {
      expect(text.length).toBeGreaterThan(1_000);
      for (const secret of [key, other, 'tk.created-by-the-run', 'c2VjcmV0LW9mLXRoZS1ydW4'])
        expect(text).not.toContain(secret);
      expect(text).not.toContain(key.slice(0, 10));
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\0-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/);
    }
  });
});
