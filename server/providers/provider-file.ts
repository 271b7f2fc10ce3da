import type { Agent } from 'undici';
import type { Channel } from '../channels/channel.ts';
import { unanswered } from '../channels/failover.ts';
import { Failure } from '../failure.ts';
import type { Logger } from '../logger.ts';
import { outboundAgent } from '../outbound/agent.ts';
import { AddressError, type OpenedAddress, openAddress } from '../outbound/open-address.ts';
import { PrivateAddressError } from '../outbound/public-addresses.ts';

/** Who named the file, and for how long it is wanted. */
export interface FileRequest {
  /** Undefined: the configuration has it no more. */
  channel: Channel | undefined;
  headers?: Readonly<Record<string, string>>;
  logger: Logger;
  signal: AbortSignal;
}

/** Connections for the files that providers name; they carry no key of ours. */
export class FileHosts {
  readonly #public: Agent;
  readonly #any: Agent;

  constructor(agent: Agent.Options) {
    this.#public = outboundAgent({ allowPrivate: false, agent });
    this.#any = outboundAgent({ allowPrivate: true, agent });
  }

  /**
   * Opens a file at an address that a provider named. It must be a public one, whatever it redirects to, unless the
   * operator permits private ones for the channel.
   *
   * @throws Failure 502 for an address that is not asked; 502 or 504 when it does not answer
   */
  async open(url: string, { channel, logger, ...request }: FileRequest): Promise<OpenedAddress> {
    const allowPrivate = channel?.settings.privateFiles ?? false;
    try {
      return await openAddress(allowPrivate ? this.#any : this.#public, url, request);
    } catch (error) {
      if (!(error instanceof AddressError || error instanceof PrivateAddressError)) throw unanswered(error);
      const hint = error instanceof PrivateAddressError ? '; private_files on the channel permits it' : '';
      logger.warn(
        { channel: channel?.name, reason: error.message },
        `a provider's file was not fetched${hint}`,
      );
      throw new Failure(502, 'bad_response', 'The provider named a file that cannot be fetched.', {
        cause: error,
      });
    }
  }
}
