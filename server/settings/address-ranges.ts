import { BlockList, isIP } from 'node:net';

/** Tests whether an address is in a set. */
export type AddressTest = (address: string) => boolean;

/** Returns a test for addresses and ranges, such as `192.0.2.7`, `10.0.0.0/8` and `2001:db8::/32`. Ignores invalid ones. */
export function addressTest(ranges: readonly string[]): AddressTest {
  if (ranges.length === 0) return () => false;
  const list = new BlockList();
  for (const range of ranges.map(readRange)) {
    if (range !== undefined) list.addSubnet(range.address, range.bits, range.family);
  }
  // `BlockList` treats an IPv4-mapped IPv6 address as the IPv4 address.
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

interface Range {
  address: string;
  bits: number;
  family: 'ipv4' | 'ipv6';
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
const maxBits = { ipv4: 32, ipv6: 128 };

function readRange(text: string): Range | undefined {
  const [address = '', length, ...more] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) return undefined;
  const family = familyOf(address);
  const bits = length === undefined ? maxBits[family] : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  return bits <= maxBits[family] ? { address, bits, family } : undefined;
}

/** Whether a text is an address or a range. */
export const isRange = (text: string): boolean => readRange(text) !== undefined;

/** Whether every address of `inner` is also in `outer`. */
export function isWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const outerRanges = outer.map(readRange).filter((range) => range !== undefined);
  return inner.every((text) => {
    const range = readRange(text);
    return (
      range !== undefined &&
      outerRanges.some(
        (one) =>
          one.family === range.family &&
          one.bits <= range.bits &&
          addressTest([`${one.address}/${one.bits}`])(range.address),
      )
    );
  });
}
