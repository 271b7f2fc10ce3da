/** Whose file it is, and how long it is to be had. A task is the owner of what it made. */
export interface FileOwner {
  /** Name of the channel whose provider named the file. */
  readonly channel: string;
  readonly userId: number;
  /** Epoch milliseconds; null: nobody says. */
  readonly expiresAt: number | null;
  /** The address may be one that a client chose, so that it must not lead into a private network. */
  readonly publicOnly?: boolean;
}

/**
 * How one client is shown the files that providers name. Every address of a provider goes through this before it
 * stands in an answer or a callback.
 */
export interface FileLinks {
  /** Where the client reaches the gateway, without a slash at the end; undefined: nobody says. */
  readonly address: string | undefined;
  /** Whether addresses of that channel's files change at all. */
  relays(channel: string): boolean;
  /** What the client is shown in the place of a provider's address. */
  shown(url: string, owner: FileOwner): string;
}
