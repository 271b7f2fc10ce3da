import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { ask, type HttpAnswer } from './ask.ts';

/** An address that is not even asked, or that leads nowhere. The message goes on from a subject. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/** A connection that is not in use is kept so long, in milliseconds, where its agent says nothing else. */
const idleMs = 4_000;

const maxRedirects = 3;
/** Bytes of a redirect's own body that are read for the sake of its connection. */
const droppedBody = 16_384;

/**
 * Asks an http or https address that somebody else chose. Redirects are followed by hand, so that what each leads to
 * is looked at like the first; the connections are the dispatcher's, which decides whom to reach.
 *
 * @throws AddressError for another kind of address or too many redirects, PrivateAddressError, and what undici throws
 */
export async function openAddress(
  dispatcher: Dispatcher,
  source: string,
  { headers = {}, signal }: { headers?: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<HttpAnswer> {
  let url = URL.parse(source);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!url || !/^https?:$/.test(url.protocol)) throw new AddressError('is no http or https address');
    // Packed for the way, neither its length nor its first bytes would be those of the file.
    const sent = { 'accept-encoding': 'identity', ...headers };
    const { origin, pathname, search } = url;
    const wanted = { origin, path: pathname + search, method: 'GET', headers: sent };
    const answer = await ask(dispatcher, wanted, signal);
    const { status, body } = answer;
    const { location } = answer.headers;
    if (status < 300 || status > 399 || typeof location !== 'string') return answer;
    await body.dump(droppedBody);
    url = URL.parse(location, url);
  }
  throw new AddressError(`redirects more than ${maxRedirects} times`);
}

export interface OutboundOptions {
  /** Connect to loopback and private networks, too. */
  allowPrivate: boolean;
  /** An origin that may be reached whatever its address, for example the own server's. */
  exempt?: () => string;
  /** Instead of the system's resolver. */
  resolve?: Resolve;
  agent?: Agent.Options;
}

/**
 * Connections to addresses that somebody else chose. Every single one is checked as it is made, where the name is
 * resolved, so that a redirect, or a name that resolves to something else a moment later, is checked like the first.
 */
export function outboundAgent({
  allowPrivate,
  exempt,
  resolve,
  agent: { keepAliveTimeout = idleMs, ...rest } = {},
}: OutboundOptions): Agent {
  // No longer than that, whatever the other side's own header says.
  const agent = { ...rest, keepAliveTimeout, keepAliveMaxTimeout: keepAliveTimeout };
  if (allowPrivate) return new Agent(agent);
  const connect = buildConnector({});
  const connectPublic = buildConnector({ lookup: publicLookup(resolve) });
  return new Agent({
    ...agent,
    connect(options, callback) {
      const { protocol, host, hostname } = options;
      if (exempt !== undefined && exempt() === `${protocol}//${host}`) connect(options, callback);
      else if (isPrivateAddress(hostname)) callback(new PrivateAddressError(hostname), null);
      else connectPublic(options, callback);
    },
  });
}

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
