import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type HttpResponse, sendRequest } from './send-request.ts';

/** A URL of another scheme, or with too many redirects. The message continues a subject. */
export class UrlError extends Error {
  override readonly name = 'AddressError';
}

const defaultKeepAliveMs = 4_000;
const maxRedirects = 3;
/** Bytes of a redirect's body that are read to keep the connection open. */
const maxRedirectBodyBytes = 16_384;

/**
 * Opens a URL that a client or provider chose. Follows redirects itself, so that the dispatcher checks each target.
 * Throws UrlError for another scheme or too many redirects, PrivateAddressError, and errors of undici.
 */
export async function openUrl(
  dispatcher: Dispatcher,
  source: string,
  { headers = {}, signal }: { headers?: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<HttpResponse> {
  let url = URL.parse(source);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!url || !/^https?:$/.test(url.protocol)) throw new UrlError('is not an http or https URL');
    // Compression would change the length and the first bytes of the file.
    const sent = { 'accept-encoding': 'identity', ...headers };
    const { origin, pathname, search } = url;
    const request = { origin, path: pathname + search, method: 'GET', headers: sent };
    const response = await sendRequest(dispatcher, request, signal);
    const { status, body } = response;
    const { location } = response.headers;
    if (status < 300 || status > 399 || typeof location !== 'string') return response;
    await body.dump(maxRedirectBodyBytes);
    url = URL.parse(location, url);
  }
  throw new UrlError(`redirects more than ${maxRedirects} times`);
}

export interface OutboundOptions {
  /** Also connect to loopback and private networks. */
  allowPrivate: boolean;
  /** An origin that is allowed whatever its address, for example the gateway's own. */
  exempt?: () => string;
  /** Replaces the system's resolver. */
  resolve?: Resolve;
  agent?: Agent.Options;
}

/** Agent for URLs that others choose. Checks every connection's address after resolution and after redirects. */
export function outboundAgent({
  allowPrivate,
  exempt,
  resolve,
  agent: { keepAliveTimeout = defaultKeepAliveMs, ...rest } = {},
}: OutboundOptions): Agent {
  // Overrides the server's `keep-alive` header.
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

/** Allocated IPv6 space. Other ranges may embed an IPv4 address. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor(host: string) {
    super(`${host} is not a public address`);
  }
}

/** Whether a URL's host is an IP address that is not public. A name is checked when it is resolved. */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  // The library also parses short and octal forms, which the system reads as names.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() !== 'unicast' || (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast));
}

/** Resolves a name to all its addresses, like `dns.lookup`. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Resolves names for connections. Fails if any address of a name is not public. */
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
