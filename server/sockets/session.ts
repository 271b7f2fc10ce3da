import type { WebSocket } from 'ws';
import type { SocketRequest } from '../channels/socket.ts';
import { Failure } from '../lib/failure.ts';
import type { Alarm } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { logFields } from '../telemetry/work.ts';
import type { Connection, LiveSocket } from './connection.ts';
import { countSocket } from './count-socket.ts';
import { booksGraceMs, idleLimit } from './limits.ts';
import { Relay } from './relay.ts';

/** How a socket ended, for the log: an HTTP status and, when it failed, a code. */
export interface Outcome {
  status: number;
  errorCode?: string;
}

/** Whether the provider or the gateway failed, and not the client: what was heard and not reported is free then. */
export function failed({ status }: Outcome): boolean {
  return status === 429 || status >= 500;
}

/**
 * What both protocols share: a relay that ends once, whoever ends it, with its books closed before the client
 * hears of it; an alarm for silence; and a key that is watched.
 */
export abstract class SocketSession implements LiveSocket {
  readonly ended: Promise<void>;
  protected readonly connection: Connection;
  protected readonly relay: Relay;
  #quiet: Alarm;
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
    this.#quiet = connection.timers.alarm(idleLimit, () => this.#tooQuiet());
    this.#unwatchKey = connection.key.watch(() => this.#recheckKey());
    this.relay = new Relay(connection, path, socket, {
      fromClient: (data, binary) => (this.over ? undefined : this.fromClient(data, binary)),
      fromUpstream: (data, binary) => (this.over ? undefined : this.fromUpstream(data, binary)),
      clientClosed: (code) => void this.#clientClosed(code),
      clientStalled: () => this.clientStalled(),
      upstreamClosed: (code) => {
        if (!this.over) this.upstreamClosed(code);
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
  /** The client does not read: tells it, in case it ever does, and ends. */
  protected abstract clientStalled(): void;
  /** Nothing has happened for as long as was allowed. */
  protected abstract tooQuiet(): void;
  /** Tells the client of a failure of the core, or of the gateway itself, and ends. */
  protected abstract fail(error: unknown): void;
  protected abstract closeBooks(outcome: Outcome): Promise<void>;

  /** Whether the end has begun: nothing more is relayed then. */
  protected get over(): boolean {
    return this.#ending !== undefined;
  }

  /** Something has happened: the silence begins anew. */
  protected heard(): void {
    this.#quiet.refresh();
  }

  /** How much silence is allowed from now on, in milliseconds. */
  protected allowSilence(limit: number): void {
    this.#quiet.cancel();
    if (!this.over) this.#quiet = this.connection.timers.alarm(limit, () => this.#tooQuiet());
  }

  /** Ends it, once. The books are closed before the client is notified. Never rejects. */
  protected end(outcome: Outcome, notifyClient: () => void): Promise<void> {
    this.#ending ??= this.#finish(outcome, notifyClient);
    return this.#ending;
  }

  async #finish(outcome: Outcome, notifyClient: () => void): Promise<void> {
    const { gateway, timers } = this.connection;
    this.#quiet.cancel();
    this.#unwatchKey();
    this.#countEnd(outcome.status);
    const books = this.closeBooks(outcome).catch((error: unknown) => {
      gateway.logger.error(
        { ...logFields(this.connection), err: error },
        'the books of a socket could not be closed',
      );
    });
    this.relay.stop();
    // Books wait for a store that is away. A client that is to hear of a failure does not wait with them.
    const timeUp = Promise.withResolvers<void>();
    const alarm = timers.alarm(booksGraceMs, timeUp.resolve);
    await (outcome.errorCode === undefined ? books : Promise.race([books, timeUp.promise]));
    alarm.cancel();
    notifyClient();
    await books;
  }

  async #clientClosed(code: number): Promise<void> {
    const orderly = code === 1000 || code === 1001 || code === 1005;
    const left = { status: 499, errorCode: 'client_closed_request' };
    await this.end(orderly ? { status: 200 } : left, () => {});
    this.#resolveEnded();
  }

  #failed(error: unknown): void {
    const { gateway } = this.connection;
    if (this.over || this.relay.client.gone.aborted) return;
    if (!(error instanceof Failure))
      gateway.logger.error({ ...logFields(this.connection), err: error }, 'a socket failed');
    this.fail(error);
  }

  #tooQuiet(): void {
    // A client that reads slowly is not silent; its pings tell whether it is there.
    if (this.relay.client.behind) this.#quiet.refresh();
    else this.tooQuiet();
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
