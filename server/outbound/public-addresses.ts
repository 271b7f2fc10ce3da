import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

// Two lists, since a list of both takes each IPv4 address for its mapped form in IPv6.
const blocked4 = new BlockList();
const blocked6 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared between a carrier's customers.
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  // Relays to IPv6.
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved and broadcast.
  ['224.0.0.0', 3],
] as const)
  blocked4.addSubnet(network, prefix);
for (const [network, prefix] of [
  // Only 2000::/3 is given out. The rest holds loopback, link-local, unique local, multicast, and the ways to write
  // an IPv4 address in IPv6 (mapped, compatible, NAT64), behind which anything could be.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  // Protocols, among them Teredo.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  blocked6.addSubnet(network, prefix, 'ipv6');

/** What an address that is not public is refused with. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor(host: string) {
    super(`${host} is no public address`);
  }
}

/** Is the host of a URL an address that is not public? A name is none; it is checked when it is resolved. */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIP(address) === 0) return false;
  return isIPv6(address) ? blocked6.check(address, 'ipv6') : blocked4.check(address);
}

/** Finds all addresses of a name, like the system does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Resolves names for connections, but fails for one that leads, be it among others, to an address that is not public. */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || addresses.some(({ address }) => isPrivateAddress(address)))
        return callback(new PrivateAddressError(hostname), '', 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
