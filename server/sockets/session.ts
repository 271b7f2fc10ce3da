import type { WebSocket } from 'ws';
import type { SocketRequest } from '../channels/socket.ts';
import { Failure } from '../lib/failure.ts';
import type { Alarm } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { logFields } from '../telemetry/telemetry-context.ts';
import type { Connection, LiveSocket } from './connection.ts';
import { countSocket } from './count-socket.ts';
import { idleTimeoutMs, maxSettlementWaitMs } from './limits.ts';
import { Relay } from './relay.ts';

/** How a socket ended, for the log: an HTTP status and, if it failed, an error code. */
export interface Outcome {
  status: number;
  errorCode?: string;
}

/** Whether the provider or the gateway failed. Audio without reported usage is then not charged. */
export function isServerFailure({ status }: Outcome): boolean {
  return status === 429 || status >= 500;
}

/** The base of both protocols: settles once, before the client is notified, and handles idle time and key changes. */
export abstract class SocketSession implements LiveSocket {
  readonly ended: Promise<void>;
  protected readonly connection: Connection;
  protected readonly relay: Relay;
  #idleAlarm: Alarm;
  readonly #unwatchKey: () => void;
  readonly #countEnd: (status: number) => void;
  #ending: Promise<void> | undefined;
  #resolveEnded: () => void = () => {};

  constructor(connection: Connection, path: SocketRequest['path'], socket: WebSocket) {
    this.connection = connection;
    this.#countEnd = countSocket(path, connection.trace);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#idleAlarm = connection.timers.alarm(idleTimeoutMs, () => this.#idleTimedOut());
    this.#unwatchKey = connection.key.watch(() => this.#recheckKey());
    this.relay = new Relay(connection, path, socket, {
      fromClient: (data, binary) => (this.isEnding ? undefined : this.fromClient(data, binary)),
      fromUpstream: (data, binary) => (this.isEnding ? undefined : this.fromUpstream(data, binary)),
      clientClosed: (code) => void this.#clientClosed(code),
      clientTooSlow: () => this.clientTooSlow(),
      upstreamClosed: (code) => {
        if (!this.isEnding) this.upstreamClosed(code);
      },
      failed: (error) => this.#failed(error),
    });
  }

  abstract drain(): void;
  abstract shutDown(): void;

  terminate(): void {
    this.relay.client.terminate();
  }

  protected abstract fromClient(data: Buffer, binary: boolean): void | Promise<void>;
  protected abstract fromUpstream(data: Buffer, binary: boolean): void | Promise<void>;
  protected abstract upstreamClosed(code: number): void;
  /** Ends the session of a client that has stopped reading. */
  protected abstract clientTooSlow(): void;
  protected abstract idleTimedOut(): void;
  /** Reports a failure to the client and ends the session. */
  protected abstract fail(error: unknown): void;
  protected abstract settle(outcome: Outcome): Promise<void>;

  /** Whether the end has begun. Nothing is relayed any more. */
  protected get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** Restarts the idle timeout. */
  protected touch(): void {
    this.#idleAlarm.refresh();
  }

  protected setIdleTimeout(timeoutMs: number): void {
    this.#idleAlarm.cancel();
    if (!this.isEnding) this.#idleAlarm = this.connection.timers.alarm(timeoutMs, () => this.#idleTimedOut());
  }

  /** Ends the session once. Settles before the client is notified. Never rejects. */
  protected end(outcome: Outcome, notifyClient: () => void): Promise<void> {
    this.#ending ??= this.#finish(outcome, notifyClient);
    return this.#ending;
  }

  async #finish(outcome: Outcome, notifyClient: () => void): Promise<void> {
    const { gateway, timers } = this.connection;
    this.#idleAlarm.cancel();
    this.#unwatchKey();
    this.#countEnd(outcome.status);
    const settled = this.settle(outcome).catch((error: unknown) => {
      gateway.logger.error({ ...logFields(this.connection), err: error }, 'settling a socket failed');
    });
    this.relay.stop();
    // The settlement waits while the store is unavailable; the report of a failure does not.
    const timeUp = Promise.withResolvers<void>();
    const alarm = timers.alarm(maxSettlementWaitMs, timeUp.resolve);
    await (outcome.errorCode === undefined ? settled : Promise.race([settled, timeUp.promise]));
    alarm.cancel();
    notifyClient();
    await settled;
  }

  async #clientClosed(code: number): Promise<void> {
    const isNormal = code === 1000 || code === 1001 || code === 1005;
    const aborted = { status: 499, errorCode: 'client_closed_request' };
    await this.end(isNormal ? { status: 200 } : aborted, () => {});
    this.#resolveEnded();
  }

  #failed(error: unknown): void {
    const { gateway } = this.connection;
    if (this.isEnding || this.relay.client.disconnected.aborted) return;
    if (!(error instanceof Failure))
      gateway.logger.error({ ...logFields(this.connection), err: error }, 'handling a socket failed');
    this.fail(error);
  }

  #idleTimedOut(): void {
    // A client that reads slowly is not idle. Pings detect whether it is alive.
    if (this.relay.client.needsDrain) this.#idleAlarm.refresh();
    else this.idleTimedOut();
  }

  async #recheckKey(): Promise<void> {
    try {
      await this.connection.key.recheck();
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof StoreUnavailable) throw error;
      this.#failed(error);
    }
  }
}
