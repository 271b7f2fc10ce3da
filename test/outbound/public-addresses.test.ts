import { lookup } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DownloadError, download } from '../../server/outbound/download.ts';
import {
  isPrivateAddress,
  outboundAgent,
  publicLookup,
  type Resolve,
} from '../../server/outbound/open-url.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const notPublic = 'is not a public address, and `callbacks.allow_private` is not set';

/** The host in the form of the URL parser, which callers pass. */
const hostOf = (host: string) => new URL(`http://${host}/`).hostname;

describe('hosts that are not public', () => {
  test.each([
    ['unspecified', '0.0.0.0'],
    ['loopback', '127.0.0.1'],
    ['loopback, elsewhere', '127.255.255.254'],
    ['loopback with a dot at the end', '127.0.0.1.'],
    ['loopback in short', '127.1'],
    ['loopback in hexadecimal', '0x7f.1'],
    ['loopback as a number', '2130706433'],
    ['loopback in octal', '017700000001'],
    ['loopback in wide characters', '１２７.０.０.１'],
    ['loopback in percent signs', '%31%32%37.0.0.1'],
    ['private 10', '10.1.2.3'],
    ['private 172, first', '172.16.0.1'],
    ['private 172, last', '172.31.255.255'],
    ['private 192', '192.168.178.1'],
    ['carrier', '100.64.0.1'],
    ['carrier, last', '100.127.255.255'],
    ['link-local', '169.254.169.254'],
    ['link-local as a number', '2852039166'],
    ['protocols', '192.0.0.170'],
    ['documentation', '192.0.2.1'],
    ['documentation 2', '198.51.100.7'],
    ['documentation 3', '203.0.113.9'],
    ['benchmarks', '198.19.0.1'],
    ['6to4 relay', '192.88.99.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 unspecified', '[::]'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback in long', '[0:0:0:0:0:0:0:1]'],
    ['mapped loopback', '[::ffff:127.0.0.1]'],
    ['mapped private', '[::ffff:a00:1]'],
    ['compatible loopback', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['local NAT64', '[64:ff9b:1::a00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:7f00:1::]'],
    ['IPv6 documentation', '[2001:db8::1]'],
    ['new IPv6 documentation', '[3fff::1]'],
    ['discard', '[100::1]'],
    ['unique local', '[fd00::1]'],
    ['IPv6 link-local', '[fe80::1]'],
    ['site-local', '[fec0::1]'],
    ['IPv6 multicast', '[ff02::1]'],
  ])('%s: %s', (_what, host) => {
    expect(isPrivateAddress(hostOf(host))).toBe(true);
  });

  test('include an address with a zone', () => {
    expect(isPrivateAddress('fe80::1%eth0')).toBe(true);
    expect(isPrivateAddress('::1%lo')).toBe(true);
    // With a zone, the system does not read it as an address.
    expect(isPrivateAddress('127.0.0.1%lo')).toBe(true);
    expect(isPrivateAddress('fe80::1%')).toBe(true);
    expect(isPrivateAddress('2606:4700::1111%eth0')).toBe(false);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '223.255.255.255',
    '[2606:4700::1111]',
    '[2a00:1450:4001::1]',
    '[2001:4860:4860::8888]',
  ])('%s is public', (host) => {
    expect(isPrivateAddress(hostOf(host))).toBe(false);
  });

  test('do not include a name before it is resolved', () => {
    expect(isPrivateAddress('localhost')).toBe(false);
  });
});

describe('a name', () => {
  const resolving = async (resolve: Resolve | undefined, name: string, all: boolean) =>
    new Promise((settle) => {
      publicLookup(resolve)(name, { all }, (error, address) => settle(error ?? address));
    });
  const to =
    (...addresses: string[]): Resolve =>
    (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  test('with a private address is not resolved', async () => {
    const [loopback] = await lookup('localhost', { all: true });
    expect(loopback).toBeDefined();
    const error = await resolving(undefined, 'localhost', true);
    expect(error).toMatchObject({ message: 'localhost is not a public address' });
  });

  test.each([
    [['1.1.1.1', '10.0.0.1']],
    [['10.0.0.1', '1.1.1.1']],
    [['2606:4700::1111', '1.1.1.1', '::ffff:127.0.0.1']],
    [['1.1.1.1', 'fe80::1%eth0']],
    [['1.1.1.1', 'fd00::1']],
    [[]],
  ])('is refused when any of its addresses is private or there is none: %j', async (addresses) => {
    for (const all of [true, false])
      expect(await resolving(to(...addresses), 'both.example', all)).toMatchObject({
        message: 'both.example is not a public address',
      });
  });

  test('resolves to the addresses that were checked', async () => {
    const found = to('1.1.1.1', '2606:4700::1111');
    expect(await resolving(found, 'public.example', false)).toBe('1.1.1.1');
    expect(await resolving(found, 'public.example', true)).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  test('that cannot be resolved fails with the error of the resolver', async () => {
    const failing: Resolve = (_name, _options, callback) => callback(new Error('no such name'), []);
    expect(await resolving(failing, 'nowhere.example', true)).toMatchObject({ message: 'no such name' });
  });
});

describe('connections', () => {
  let server: RecordingUpstream;
  beforeAll(async () => {
    server = await startUpstream(({ path }, response) => {
      const to = new URL(path, server.url).searchParams.get('to');
      if (to !== null) response.writeHead(302, { location: to }).end();
      else response.end('a file');
    });
  });
  afterAll(() => server.close());

  const limits = () => ({ size: 100, timeout: 5_000, signal: new AbortController().signal });
  const port = () => new URL(server.url).port;

  test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433'])(
    'to %s are refused, and nothing arrives',
    async (host) => {
      const agent = outboundAgent({ allowPrivate: false });
      const before = server.seen.length;
      const refused = download(agent, `http://${host}:${port()}/file`, limits());
      await expect(refused).rejects.toThrow(new DownloadError('url', notPublic));
      expect(server.seen).toHaveLength(before);
      await agent.destroy();
    },
  );

  test.each([[['1.1.1.1', '127.0.0.1']], [['127.0.0.1', '1.1.1.1']]])(
    'to a name with the addresses %j are refused, and nothing arrives',
    async (addresses) => {
      const asked: string[] = [];
      const resolve: Resolve = (name, _options, callback) => {
        asked.push(name);
        callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        );
      };
      const agent = outboundAgent({ allowPrivate: false, resolve });
      const before = server.seen.length;
      const refused = download(agent, `http://both.example:${port()}/file`, limits());
      await expect(refused).rejects.toThrow(new DownloadError('url', notPublic));
      expect([asked, server.seen.length]).toEqual([['both.example'], before]);
      await agent.destroy();
    },
  );

  test('to private addresses are made if allowed', async () => {
    const agent = outboundAgent({ allowPrivate: true });
    expect(String(await download(agent, `${server.url}/file`, limits()))).toBe('a file');
    await agent.destroy();
  });

  test('reach the exempt origin only, and check redirects', async () => {
    const agent = outboundAgent({ allowPrivate: false, exempt: () => server.url });
    expect(String(await download(agent, `${server.url}/a?to=/b`, limits()))).toBe('a file');
    const other = await startUpstream((_request, response) => {
      response.end('secret');
    });
    for (const to of [other.url, `http://localhost:${port()}/`]) {
      const moved = `${server.url}/?to=${encodeURIComponent(to)}`;
      await expect(download(agent, moved, limits())).rejects.toThrow('is not a public address');
    }
    const moved = `${server.url}/?to=${encodeURIComponent('file:///etc/passwd')}`;
    await expect(download(agent, moved, limits())).rejects.toThrow('is not an http or https URL');
    expect(other.seen).toEqual([]);
    await other.close();
    await agent.destroy();
  });
});
