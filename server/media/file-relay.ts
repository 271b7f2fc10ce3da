import type { ChannelSettings } from '../settings/settings.ts';
import type { FileLinks, FileOwner } from './file-links.ts';
import { fileNameFor } from './file-name.ts';
import { FileSeal, type SealedFile } from './file-seal.ts';

type RelayedChannel = Pick<ChannelSettings, 'name' | 'baseUrl' | 'relayMedia'>;

export interface FileRelayOptions {
  /** Secret shared by all gateways of a store. */
  secret: string;
  channels: readonly RelayedChannel[];
  /** Base URL for clients whose own is unknown. Without a trailing slash. */
  defaultBaseUrl: () => string;
  clock: () => number;
}

const hourMs = 60 * 60_000;
/** Lifetime of a link to a file without an expiry, rounded up to the hour. */
const defaultLifetimeMs = 24 * hourMs;
/** Longer strings are not links. */
const maxLinkLength = 16_384;
/** Fields that hold a file URL. Any other field is text that may be shown or spoken. */
const mediaField = /(?:urls?|images?|videos?|audios?)$/i;
const linkPath = /\/v1\/files\/([\w-]+)\/[^/]+$/;

/** Hides providers' file URLs of channels with `relay_media` behind links that contain their file, encrypted. */
export class FileRelay {
  readonly #options: FileRelayOptions;
  readonly #seal: FileSeal;
  #relayedChannels: ReadonlySet<string> = new Set();
  /** Origins of the providers by channel name. */
  #origins: ReadonlyMap<string, string> = new Map();

  constructor(options: FileRelayOptions) {
    this.#options = options;
    this.#seal = new FileSeal(options.secret);
    this.apply(options.channels);
  }

  apply(channels: readonly RelayedChannel[]): void {
    this.#relayedChannels = new Set(channels.filter(({ relayMedia }) => relayMedia).map(({ name }) => name));
    this.#origins = new Map(channels.map(({ name, baseUrl }) => [name, new URL(baseUrl).origin]));
  }

  relays(channel: string): boolean {
    return this.#relayedChannels.has(channel);
  }

  linksFor(baseUrl: string | undefined): FileLinks {
    return {
      baseUrl,
      relays: (channel) => this.relays(channel),
      publicUrl: (url, owner) =>
        this.#relayedChannels.has(owner.channel) ? this.#link(url, owner, baseUrl) : url,
    };
  }

  /** Opens a link's token. Undefined if the token is expired or not from these gateways. */
  open(token: string): SealedFile | undefined {
    const file = this.#seal.open(token);
    return file !== undefined && file.expiresAt > this.#options.clock() ? file : undefined;
  }

  /** Replaces a user's links with the provider's own URLs, because the provider may not reach the gateway. */
  restoreProviderUrls(body: unknown, { userId, channel }: { userId: number; channel: string }): unknown {
    if (this.#relayedChannels.size === 0) return body;
    const provider = this.#origins.get(channel);
    return mapStrings(body, '', (text, field) => {
      if (!mediaField.test(field) || text.length > maxLinkLength || !text.includes('/v1/files/')) return text;
      const token = linkPath.exec(URL.parse(text)?.pathname ?? '')?.[1] ?? '';
      const file = this.#seal.open(token);
      if (file?.userId !== userId) return text;
      // The provider decides whether the file has expired.
      return this.#origins.get(file.channel) === provider ? file.url : text;
    });
  }

  #link(
    url: string,
    { channel, userId, expiresAt, publicOnly = false }: FileOwner,
    baseUrl?: string,
  ): string {
    // Rounded to the hour, so that repeated reads return the same link.
    const end = expiresAt ?? Math.ceil((this.#options.clock() + defaultLifetimeMs) / hourMs) * hourMs;
    const token = this.#seal.seal({ url, channel, userId, expiresAt: end, publicOnly });
    return `${baseUrl ?? this.#options.defaultBaseUrl()}/v1/files/${token}/${fileNameFor(url)}`;
  }
}

/** Maps every string. Returns the same value if nothing changes. `field` holds the string or its list. */
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
