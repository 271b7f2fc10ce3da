import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { clientAddress, readAllowIps } from '../../server/keys/addresses.ts';
import { addressTest, isRange, isWithin } from '../../server/settings/address-ranges.ts';

describe('the client address of a request', () => {
  const trusted = addressTest(['10.0.0.0/8', 'fd00::/8']);
  const from = (peer: string | undefined, forwarded?: string | string[]) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded as string };
    return clientAddress({ socket: { remoteAddress: peer } as Socket, headers }, trusted);
  };

  test.each([
    ['the peer itself', '192.0.2.1', undefined, '192.0.2.1'],
    ['the peer when it is not a trusted proxy', '192.0.2.1', '198.51.100.9', '192.0.2.1'],
    ['the address that a trusted proxy saw', '10.1.2.3', '198.51.100.9', '198.51.100.9'],
    [
      'the address that the first of two trusted proxies saw',
      '10.1.2.3',
      '198.51.100.9, 10.9.9.9',
      '198.51.100.9',
    ],
    ['not an address that the client forged', '10.1.2.3', '1.1.1.1, 198.51.100.9', '198.51.100.9'],
    ['the proxy when it sends no header', '10.1.2.3', undefined, '10.1.2.3'],
    ['the last of several headers', 'fd00::1', ['1.1.1.1', '198.51.100.9'], '198.51.100.9'],
    [
      'the address that a proxy with a mapped IPv4 address saw',
      '::ffff:10.1.2.3',
      '198.51.100.9',
      '198.51.100.9',
    ],
    ['an invalid address, which no key allows', '10.1.2.3', 'unknown', 'unknown'],
    ['the first proxy when all are trusted', '10.1.2.3', '10.8.8.8, 10.9.9.9', '10.8.8.8'],
    ['the address after an empty entry', '10.1.2.3', '1.1.1.1, , 10.9.9.9', '10.9.9.9'],
    ['empty when the peer has disconnected', undefined, undefined, ''],
  ])('is %s', (_, peer, forwarded, expected) => {
    expect(from(peer, forwarded)).toBe(expected);
  });
});

test('an address is tested against addresses and ranges of both families', () => {
  const allows = addressTest(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', '0.0.0.0/33', 'nonsense']);
  expect(['192.0.2.7', '10.255.0.1', '2001:db8::5', '::ffff:192.0.2.7'].every(allows)).toBe(true);
  expect(['192.0.2.8', '11.0.0.1', '2001:db9::5', '', 'unknown', '10.0.0'].some(allows)).toBe(false);
  expect(addressTest(['0.0.0.0/0'])('203.0.113.9')).toBe(true);
});

test.each(['', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', 'fe80::1%eth0', '10.1', '0x7f.0.0.1', '::/129'])(
  '%s is not a range',
  (text) => expect(isRange(text)).toBe(false),
);

test('ranges lie within ranges', () => {
  const outer = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'];
  expect(isWithin(['10.1.0.0/16', '10.1.2.3', '192.0.2.7', '2001:db8:1::/48'], outer)).toBe(true);
  for (const beyond of ['10.0.0.0/7', '192.0.2.0/24', '2001:db8::/31', '0.0.0.0/0', '::ffff:10.0.0.0/104'])
    expect(isWithin(['10.1.2.3', beyond], outer), beyond).toBe(false);
});

test('readAllowIps removes duplicates', () => {
  expect(readAllowIps('192.0.2.7\n192.0.2.7\r\n\t10.0.0.0/8')).toEqual(['192.0.2.7', '10.0.0.0/8']);
  expect(readAllowIps(' \n')).toBeNull();
});

test('readAllowIps accepts at most 100 addresses and reports an invalid one', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`);
  expect(readAllowIps(hundred.join('\n'))).toEqual(hundred);
  const problem = (text: string) => {
    try {
      return readAllowIps(text);
    } catch (error) {
      return error;
    }
  };
  expect(problem([...hundred, '10.0.0.100'].join('\n'))).toMatchObject({
    status: 400,
    message: 'allow_ips: must have at most 100 addresses.',
  });
  expect(problem(`192.0.2.7\n${'x'.repeat(99)}`)).toMatchObject({
    status: 400,
    message: `allow_ips: "${'x'.repeat(60)}" is not an IP address or a range such as 10.0.0.0/8.`,
  });
});
