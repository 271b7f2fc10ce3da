import type { ChannelSettings } from '../settings/settings.ts';
import type { FileLinks, FileOwner } from './file-links.ts';
import { nameOf } from './file-name.ts';
import { FileSeal, type SealedFile } from './file-seal.ts';

type RelayedChannel = Pick<ChannelSettings, 'name' | 'baseUrl' | 'relayMedia'>;

export interface FileRelayOptions {
  /** The secret of all gateways that share a store. */
  secret: string;
  channels: readonly RelayedChannel[];
  /** Where readers reach the gateway of whom nobody knows more. Without a slash at the end. */
  home: () => string;
  /** Epoch milliseconds. */
  clock: () => number;
}

const hour = 60 * 60_000;
/** So long a link lasts whose file has no end of its own, and up to an hour longer. */
const lifetime = 24 * hour;
/** Longer addresses are no links. */
const maxLength = 16_384;
/** Fields that take the address of a file. Any other is text, which may be shown or spoken. */
const media = /(?:urls?|images?|videos?|audios?)$/i;
const linkPath = /\/v1\/files\/([\w-]+)\/[^/]+$/;

/**
 * Stands between clients and the files that providers name, where a channel says `relay_media`: clients are shown
 * links to this gateway, which hold all there is to know, so that every gateway with the secret can serve them.
 */
export class FileRelay {
  readonly #seal: FileSeal;
  readonly #home: () => string;
  readonly #clock: () => number;
  #relayed: ReadonlySet<string> = new Set();
  /** By the channel's name. */
  #providers: ReadonlyMap<string, string> = new Map();

  constructor({ secret, channels, home, clock }: FileRelayOptions) {
    this.#seal = new FileSeal(secret);
    this.#home = home;
    this.#clock = clock;
    this.apply(channels);
  }

  /** From now on these are the channels. */
  apply(channels: readonly RelayedChannel[]): void {
    this.#relayed = new Set(channels.filter(({ relayMedia }) => relayMedia).map(({ name }) => name));
    this.#providers = new Map(channels.map(({ name, baseUrl }) => [name, new URL(baseUrl).origin]));
  }

  /** Whether addresses of that channel's files change at all. */
  relays(channel: string): boolean {
    return this.#relayed.has(channel);
  }

  /** For a client that reaches the gateway at `address`; undefined: nobody says. */
  linksAt(address: string | undefined): FileLinks {
    return {
      address,
      relays: (channel) => this.relays(channel),
      shown: (url, owner) => (this.#relayed.has(owner.channel) ? this.#link(url, owner, address) : url),
    };
  }

  /** The file behind a link's token; undefined when the token is not of these gateways, or its time is over. */
  behind(token: string): SealedFile | undefined {
    const file = this.#seal.open(token);
    return file !== undefined && file.expiresAt > this.#clock() ? file : undefined;
  }

  /**
   * A request's body as a channel gets it: where a user gives back a link to a file of that channel's provider, with
   * the provider's own address. The provider may not be able to reach this gateway.
   */
  givenBack(body: unknown, { userId, channel }: { userId: number; channel: string }): unknown {
    if (this.#relayed.size === 0) return body;
    const provider = this.#providers.get(channel);
    return mapStrings(body, '', (text, field) => {
      if (!media.test(field) || text.length > maxLength || !text.includes('/v1/files/')) return text;
      const token = linkPath.exec(URL.parse(text)?.pathname ?? '')?.[1] ?? '';
      const file = this.#seal.open(token);
      if (file?.userId !== userId) return text;
      // Whether it has run out is the provider's to say.
      return this.#providers.get(file.channel) === provider ? file.url : text;
    });
  }

  #link(
    url: string,
    { channel, userId, expiresAt, publicOnly = false }: FileOwner,
    address?: string,
  ): string {
    // To the hour, so that who reads again soon is shown the same link.
    const end = expiresAt ?? Math.ceil((this.#clock() + lifetime) / hour) * hour;
    const token = this.#seal.seal({ url, channel, userId, expiresAt: end, publicOnly });
    return `${address ?? this.#home()}/v1/files/${token}/${nameOf(url)}`;
  }
}

/**
 * The value with every string in it mapped; the very same when nothing changes. `field` is the name that the value
 * stands under, or the list that it is an item of.
 */
function mapStrings(value: unknown, field: string, map: (text: string, field: string) => string): unknown {
  if (typeof value === 'string') return map(value, field);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const inList = Array.isArray(value);
  const mapped = entries.map(
    ([name, inner]) => [name, mapStrings(inner, inList ? field : name, map)] as const,
  );
  if (mapped.every(([, inner], index) => inner === entries[index]?.[1])) return value;
  return inList ? mapped.map(([, inner]) => inner) : Object.fromEntries(mapped);
}
