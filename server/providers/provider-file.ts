import type { Agent } from 'undici';
import type { Channel } from '../channels/channel.ts';
import { connectionFailure } from '../channels/failover.ts';
import { openUrl, outboundAgent, PrivateAddressError, UrlError } from '../outbound/open-url.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { type Release, type SlotOptions, Slots } from '../outbound/slots.ts';
import type { Logger } from '../telemetry/logger.ts';
import { badResponse } from './unusable-response.ts';

export interface FileRequest {
  /** Channel whose provider returned the URL. Undefined if it is no longer configured. */
  channel: Channel | undefined;
  user: number;
  /** Never fetches from a private network, even if the channel allows it. */
  publicOnly?: boolean;
  headers?: Readonly<Record<string, string>>;
  logger: Logger;
  signal: AbortSignal;
}

const fileAgent: Agent.Options = { keepAliveTimeout: 10_000, headersTimeout: 30_000, bodyTimeout: 60_000 };
/** Slots for each host and channel. A slow reader keeps its slot, but cannot block other users. */
const slotsPerHost: SlotOptions = { count: 256, waitMs: 10_000 };

/** Fetches files from URLs of providers, without the channel's key. */
export class FileHosts {
  readonly #public: Agent;
  readonly #any: Agent;
  readonly #slots: SlotOptions;
  readonly #hosts = new Map<string, Slots>();

  constructor(agent = fileAgent, slots = slotsPerHost) {
    this.#slots = slots;
    this.#public = outboundAgent({ allowPrivate: false, agent });
    this.#any = outboundAgent({ allowPrivate: true, agent });
  }

  /** Opens a file. URLs and redirects must be public unless the channel allows others. @throws Failure 502, 503 or 504 */
  async open(
    url: string,
    { channel, user, publicOnly = false, logger, ...request }: FileRequest,
  ): Promise<HttpResponse> {
    const allowPrivate = !publicOnly && (channel?.settings.privateFiles ?? false);
    let release: Release | undefined;
    try {
      const host = `${channel?.name} ${URL.parse(url)?.origin}`;
      release = await this.#acquireSlot(host, user, request.signal);
      const opened = await openUrl(allowPrivate ? this.#any : this.#public, url, request);
      opened.body.onClose(release);
      return opened;
    } catch (error) {
      release?.();
      if (!(error instanceof UrlError || error instanceof PrivateAddressError))
        throw connectionFailure(error);
      const hint = error instanceof PrivateAddressError ? '; `private_files` of the channel allows it' : '';
      logger.warn(
        { channel: channel?.name, reason: error.message },
        `a provider's file was not fetched${hint}`,
      );
      throw badResponse('The provider returned the URL of a file that cannot be fetched.', error);
    }
  }

  async #acquireSlot(host: string, user: number, signal: AbortSignal): Promise<Release> {
    const slots = this.#hosts.getOrInsertComputed(host, () => new Slots(this.#slots));
    const deleteIfIdle = () => {
      if (slots.isIdle) this.#hosts.delete(host);
    };
    try {
      const release = await slots.acquire(user, signal);
      return () => {
        release();
        deleteIfIdle();
      };
    } catch (error) {
      deleteIfIdle();
      throw error;
    }
  }
}
