export interface FileOwner {
  /** Name of the channel whose provider returned the URL. */
  readonly channel: string;
  readonly userId: number;
  /** Epoch milliseconds. Null if unknown. */
  readonly expiresAt: number | null;
  /** A client may have chosen the URL, so it must not lead into a private network. */
  readonly publicOnly?: boolean;
}

/** Replaces providers' file URLs for one client. Every URL in a response or a callback passes through it. */
export interface FileLinks {
  /** Base URL at which the client reaches the gateway, without a trailing slash. Undefined if unknown. */
  readonly baseUrl: string | undefined;
  relays(channel: string): boolean;
  /** Returns the gateway's link to a relayed file, and any other URL unchanged. */
  publicUrl(url: string, owner: FileOwner): string;
}
