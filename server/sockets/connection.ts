import type { Duplex } from 'node:stream';
import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { Gateway } from '../http/gateway.ts';
import type { Caller } from '../keys/caller.ts';
import type { Timers } from '../lib/timers.ts';
import type { Work } from '../telemetry/work.ts';

/** The key of a socket: it may be changed while the socket is open. */
export interface SocketKey {
  /** As of the last check. */
  readonly caller: Caller;
  /** @throws Failure 401 or 403 when it was revoked or has lost the model since. */
  recheck(): Promise<void>;
  /** Calls `changed` whenever it may have changed, until the function that it gives is called. */
  watch(changed: () => Promise<void>): () => void;
}

/** What is known of a socket that has passed the checks. */
export interface Connection extends Work {
  readonly gateway: Gateway;
  /** By the monotonic clock. */
  readonly startedAt: number;
  readonly key: SocketKey;
  readonly model: CatalogueModel;
  readonly timers: Timers;
  /** The connection under the client's socket. */
  readonly stream: Duplex;
}

/** A running socket, as those see it that count sockets and shut the gateway down. */
export interface LiveSocket {
  /** Resolves when the books are closed and the client is gone. Never rejects. */
  readonly ended: Promise<void>;
  /** The gateway is about to stop: what runs may finish, nothing new begins. */
  drain(): void;
  /** The grace period is over: tells the client and closes with 1001. */
  shutDown(): void;
  /** Breaks the connection. */
  terminate(): void;
}
