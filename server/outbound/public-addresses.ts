import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All that is given out of IPv6. The rest may hold an IPv4 address in disguise, behind which anything could be. */
const givenOut = ipaddr.IPv6.parseCIDR('2000::/3');

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
  // The library takes short and octal forms too, which the system reads as names.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() !== 'unicast' || (parsed instanceof ipaddr.IPv6 && !parsed.match(givenOut));
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
