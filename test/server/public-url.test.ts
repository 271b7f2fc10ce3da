import { request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientBaseUrl } from '../../server/http/base-url.ts';
import { addressTest } from '../../server/settings/address-ranges.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Sends a request with other headers than `fetch` allows. */
async function get(url: string, headers: Record<string, string>): Promise<string> {
  const sent = request(url, { headers });
  sent.end();
  const [response] = await new Promise<[import('node:http').IncomingMessage]>((resolve, reject) => {
    sent.on('response', (received) => resolve([received])).on('error', reject);
  });
  expect(response.statusCode).toBe(200);
  return text(response);
}

test('PUBLIC_URL is the address in documents and pages', async () => {
  const { publicUrl } = readSettings({ PUBLIC_URL: 'https://gateway.example/base/' });
  const target = await startTestGateway({ sandbox: false, publicUrl });
  const read = async (path: string) => (await fetch(`${target.url}${path}`)).text();
  expect(JSON.parse(await read('/openapi.json'))).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'https://gateway.example/base' }],
  });
  const { servers } = JSON.parse(await read('/asyncapi.json')) as { servers: object };
  expect(servers).toMatchObject({
    gatewaySocket: { host: 'gateway.example', pathname: '/base', protocol: 'wss' },
    gateway: { host: 'gateway.example', pathname: '/base', protocol: 'https' },
    receiver: { host: '{receiver}' },
  });
  expect(await read('/')).toContain('https://gateway.example/base/v1/audio/speech');
  expect(await read('/docs/browser')).toContain('https://gateway.example/base');
  expect(JSON.parse(await read('/docs/openapi.json'))).toMatchObject({
    servers: [{ url: 'https://gateway.example/base' }],
  });
  await target.close();
});

describe('without PUBLIC_URL', () => {
  let target: TestGateway;
  beforeAll(async () => {
    target = await startTestGateway({ sandbox: false });
  });
  afterAll(() => target.close());

  test.each(['/openapi.json', '/asyncapi.json', '/', '/docs/browser', '/docs/asyncapi.json'])(
    '%s shows the host of each request',
    async (path) => {
      for (const host of ['one.example', 'two.example:8443']) {
        const body = await get(`${target.url}${path}`, { host });
        expect(body).toContain(host);
        expect(body).not.toContain('127.0.0.1:8080');
      }
    },
  );
});

describe('the base URL of a request', () => {
  const settings = { publicUrl: undefined, tls: undefined };
  const trusted = addressTest(['10.0.0.0/8']);
  const from = (remoteAddress: string, headers: Record<string, string>) =>
    clientBaseUrl({ headers, socket: { remoteAddress } as Socket }, settings, trusted);
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gateway.example' };

  test.each<[string, string, Record<string, string>, string | undefined]>([
    ['its host', '192.0.2.1', { host: 'a.example:81' }, 'http://a.example:81'],
    ['that of a trusted proxy', '10.1.2.3', { host: 'a.example', ...forwarded }, 'https://gateway.example'],
    ['not that of another client', '192.0.2.1', { host: 'a.example', ...forwarded }, 'http://a.example'],
    [
      'that of the nearest of two proxies',
      '10.1.2.3',
      {
        host: 'a.example',
        'x-forwarded-host': 'forged.example, b.example',
        'x-forwarded-proto': 'http,HTTPS',
      },
      'https://b.example',
    ],
    [
      'not another scheme',
      '10.1.2.3',
      { host: 'a.example', 'x-forwarded-proto': 'file' },
      'http://a.example',
    ],
    ['unknown without a host', '192.0.2.1', {}, undefined],
    ['unknown with more than a host', '192.0.2.1', { host: 'a.example/path' }, undefined],
  ])('is %s', (_, peer, headers, expected) => {
    expect(from(peer, headers)).toBe(expected);
  });
});
