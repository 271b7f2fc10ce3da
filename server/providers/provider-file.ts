import type { Agent } from 'undici';
import type { Channel } from '../channels/channel.ts';
import { connectionFailure } from '../channels/failover.ts';
import { Failure } from '../lib/failure.ts';
import { openUrl, outboundAgent, PrivateAddressError, UrlError } from '../outbound/open-url.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { type Release, type SlotOptions, Slots } from '../outbound/slots.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Who named the file, and for how long it is wanted. */
export interface FileRequest {
  /** Undefined: the configuration has it no more. */
  channel: Channel | undefined;
  /** Who loads it. */
  user: number;
  /** It is not fetched from a private network, whatever the channel permits. */
  publicOnly?: boolean;
  headers?: Readonly<Record<string, string>>;
  logger: Logger;
  signal: AbortSignal;
}

/** Of one host and channel: a file is held as long as its reader takes, and no reader may hold up the others. */
const slotsPerHost: SlotOptions = { count: 256, waitMs: 10_000 };

/** Connections for the files that providers name; they carry no key of ours. */
export class FileHosts {
  readonly #public: Agent;
  readonly #any: Agent;
  readonly #slots: SlotOptions;
  readonly #hosts = new Map<string, Slots>();

  constructor(agent: Agent.Options, slots = slotsPerHost) {
    this.#slots = slots;
    this.#public = outboundAgent({ allowPrivate: false, agent });
    this.#any = outboundAgent({ allowPrivate: true, agent });
  }

  /**
   * Opens a file at an address that a provider named. It must be a public one, whatever it redirects to, unless the
   * operator permits private ones for the channel.
   *
   * @throws Failure 502 for an address that is not asked; 502 or 504 when it does not answer; 503 when too many of
   *   the host's files are being loaded
   */
  async open(
    url: string,
    { channel, user, publicOnly = false, logger, ...request }: FileRequest,
  ): Promise<HttpResponse> {
    const allowPrivate = !publicOnly && (channel?.settings.privateFiles ?? false);
    let leave: Release | undefined;
    try {
      leave = await this.#enter(channel, url, user, request.signal);
      const opened = await openUrl(allowPrivate ? this.#any : this.#public, url, request);
      opened.body.onClose(leave);
      return opened;
    } catch (error) {
      leave?.();
      if (!(error instanceof UrlError || error instanceof PrivateAddressError))
        throw connectionFailure(error);
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

  /** A slot of the host, redirects included. What goes by one channel never waits for another's. */
  async #enter(
    channel: Channel | undefined,
    url: string,
    user: number,
    signal: AbortSignal,
  ): Promise<Release> {
    const host = `${channel?.name} ${URL.parse(url)?.origin}`;
    const slots = this.#hosts.get(host) ?? new Slots(this.#slots);
    this.#hosts.set(host, slots);
    const tidy = () => {
      if (slots.isIdle) this.#hosts.delete(host);
    };
    try {
      const leave = await slots.acquire(user, signal);
      return () => {
        leave();
        tidy();
      };
    } catch (error) {
      tidy();
      throw error;
    }
  }
}
