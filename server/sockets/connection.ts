import type { Duplex } from 'node:stream';
import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { Gateway } from '../http/gateway.ts';
import type { Caller } from '../keys/caller.ts';
import type { Timers } from '../lib/timers.ts';
import type { TelemetryContext } from '../telemetry/telemetry-context.ts';

/** The key of a socket. It may change while the socket is open. */
interface SocketKey {
  /** The caller as of the last check. */
  readonly caller: Caller;
  /** @throws Failure 401 or 403 if the key was revoked or may no longer use the model. */
  recheck(): Promise<void>;
  /** Registers a listener for changes of the key. Returns a function that removes it. */
  watch(listener: () => Promise<void>): () => void;
}

/** A socket that has passed the handshake. */
export interface Connection extends TelemetryContext {
  readonly gateway: Gateway;
  /** Monotonic time, in milliseconds. */
  readonly startedAt: number;
  readonly key: SocketKey;
  readonly model: CatalogueModel;
  readonly timers: Timers;
  /** The TCP or TLS connection of the client's socket. */
  readonly stream: Duplex;
}
