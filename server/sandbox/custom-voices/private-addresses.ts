import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

const blocked = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  blocked.addSubnet(network, prefix);
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  blocked.addSubnet(network, prefix, 'ipv6');

/** Is the host of a URL an address that is not public? A name is none; it is checked when it is resolved. */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && blocked.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Resolves a name like the default, but fails when it leads to an address that is not public. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, '', 0);
    const [first] = addresses;
    if (!first || addresses.some(({ address }) => isPrivateAddress(address)))
      return callback(new Error(`${hostname} is no public address`), '', 0);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
