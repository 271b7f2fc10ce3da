import type { Duplex } from 'node:stream';
import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { Caller } from '../accounts/caller.ts';
import type { Gateway } from '../gateway.ts';
import type { Timers } from '../runtime/timers.ts';
import type { Work } from '../telemetry/work.ts';

/** What is known of a socket that has passed the checks. */
export interface Connection extends Work {
  readonly gateway: Gateway;
  /** By the monotonic clock. */
  readonly startedAt: number;
  readonly caller: Caller;
  readonly model: CatalogueModel;
  readonly timers: Timers;
  /** The connection under the client's socket. */
  readonly stream: Duplex;
  /** @throws Failure 401 or 403 when the key was revoked or has lost the model since. */
  recheck(): Promise<void>;
  /** Calls `recheck` whenever the key has changed, until the function that it gives is called. */
  watchKey(recheck: () => Promise<void>): () => void;
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
