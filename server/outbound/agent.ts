import { Agent, buildConnector } from 'undici';
import { isPrivateAddress, PrivateAddressError, publicLookup, type Resolve } from './public-addresses.ts';

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
export function outboundAgent({ allowPrivate, exempt, resolve, agent = {} }: OutboundOptions): Agent {
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
