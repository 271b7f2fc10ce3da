import { Socket } from 'node:net';
import type { Attributes } from '@opentelemetry/api';
import type { WebSocket } from 'ws';
import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { openSocketWithFailover, recordClose, type SocketRequest } from '../channels/socket.ts';
import { logAccess } from '../http/access-log.ts';
import { Failure } from '../lib/failure.ts';
import type { Alarm } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { socketDuration, socketsActive } from '../telemetry/metrics.ts';
import { logFields, runInContext } from '../telemetry/telemetry-context.ts';
import type { Connection } from './connection.ts';
import { idleTimeoutMs, maxSettlementWaitMs } from './limits.ts';
import { Peer } from './peer.ts';

/** How a socket ended, for the log: an HTTP status and, if it failed, an error code. */
export interface Outcome {
  status: number;
  errorCode?: string;
}

/** Whether the provider or the gateway failed. Audio without reported usage is then not charged. */
export function isServerFailure({ status }: Outcome): boolean {
  return status === 429 || status >= 500;
}

const operationOf: Readonly<Record<SocketRequest['path'], OperationId>> = {
  '/api-ws/v1/realtime': 'openRealtimeSocket',
  '/api-ws/v1/inference': 'openInferenceSocket',
};

const attributesOf: Readonly<Record<SocketRequest['path'], Attributes>> = {
  '/api-ws/v1/realtime': { 'unigate.operation': operationOf['/api-ws/v1/realtime'] },
  '/api-ws/v1/inference': { 'unigate.operation': operationOf['/api-ws/v1/inference'] },
};

/**
 * The base of both protocols. Relays frames between a client and one upstream at a time, with backpressure in both
 * directions. Settles once, before the client is notified, and handles idle time and key changes.
 */
export abstract class SocketSession {
  readonly #ended = Promise.withResolvers<void>();
  /** Resolves when the session is settled and the client is disconnected. Never rejects. */
  readonly ended = this.#ended.promise;
  protected readonly connection: Connection;
  protected readonly client: Peer;
  readonly #path: SocketRequest['path'];
  readonly #openedAt = performance.now();
  readonly #unwatchKey: () => void;
  readonly #stopped = new AbortController();
  #upstream: { peer: Peer; channel: Channel } | undefined;
  #channelName = '';
  #idleAlarm: Alarm;
  #ending: Promise<void> | undefined;
  /** Result, once the end has begun. */
  #status = 0;

  constructor(connection: Connection, path: SocketRequest['path'], socket: WebSocket) {
    const { key, timers, stream } = connection;
    this.connection = connection;
    this.#path = path;
    socketsActive.add(1, attributesOf[path]);
    this.#idleAlarm = timers.alarm(idleTimeoutMs, () => this.#idleTimedOut());
    this.#unwatchKey = key.watch(() => this.#recheckKey());
    const events = {
      frame: (data: Buffer, binary: boolean) => (this.isEnding ? undefined : this.fromClient(data, binary)),
      closed: (code: number) => void this.#clientClosed(code),
      backpressure: (needsDrain: boolean) => this.#upstream?.peer.setPaused(needsDrain),
      failed: (error: unknown) => this.#failed(error),
      tooSlow: () => this.clientTooSlow(),
    };
    this.client = new Peer(socket, timers, events, stream);
  }

  /** Refuses new work. Running work may finish. */
  abstract drain(): void;
  /** Sends the client an error and closes with 1001. */
  abstract shutDown(): void;

  /** Destroys the connection of the client. */
  terminate(): void {
    this.client.terminate();
  }

  protected abstract fromClient(data: Buffer, binary: boolean): void | Promise<void>;
  protected abstract fromUpstream(data: Buffer, binary: boolean): void | Promise<void>;
  /** Called when the upstream closes the connection, unless the session disconnected it. */
  protected abstract upstreamClosed(code: number): void;
  /** Ends the session of a client that has stopped reading. */
  protected abstract clientTooSlow(): void;
  protected abstract idleTimedOut(): void;
  /** Reports a failure to the client and ends the session. */
  protected abstract fail(error: unknown): void;
  protected abstract settle(outcome: Outcome): Promise<void>;

  /** The channel of the connected upstream. Undefined if there is none. */
  protected get channel(): Channel | undefined {
    return this.#upstream?.channel;
  }

  /** Name of the last connected channel. Empty if there was none. */
  protected get channelName(): string {
    return this.#channelName;
  }

  /** Whether the end has begun. Nothing is relayed any more. */
  protected get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /**
   * Connects to one of the channels and disconnects the previous one.
   *
   * @throws Failure if no channel can be reached, or an AbortError if the client disconnected or the session is ending.
   */
  protected async connect(channels: readonly Channel[]): Promise<void> {
    const { gateway, key, model, timers } = this.connection;
    const signal = AbortSignal.any([this.client.disconnected, this.#stopped.signal]);
    const request = { path: this.#path, model: model.id, user: key.caller.userId, signal, timers };
    const opened = await runInContext(this.connection, () =>
      openSocketWithFailover(gateway.channels.order(channels), request, gateway.logger),
    );
    const { channel, socket } = opened;
    if (signal.aborted) {
      socket.terminate();
      signal.throwIfAborted();
    }
    this.#disconnect();
    const isCurrent = () => this.#upstream?.peer === peer;
    const peer = new Peer(socket, timers, {
      frame: (data, binary) => (isCurrent() ? this.fromUpstream(data, binary) : undefined),
      closed: (code) => {
        if (!isCurrent()) return;
        recordClose(opened, code);
        this.#upstream = undefined;
        this.client.setPaused(false);
        this.upstreamClosed(code);
      },
      backpressure: (needsDrain) => {
        if (isCurrent()) this.client.setPaused(needsDrain);
      },
      failed: (error) => this.#failed(error),
    });
    this.#upstream = { peer, channel };
    this.#channelName = channel.name;
    if (this.client.needsDrain) peer.setPaused(true);
  }

  protected toUpstream(data: Buffer | string): void {
    this.#upstream?.peer.send(data, false);
  }

  /** Closes the connection to the upstream and ignores its later events. */
  #disconnect(): void {
    const previous = this.#upstream?.peer;
    this.#upstream = undefined;
    previous?.close(1000);
    this.client.setPaused(false);
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
    this.#status = outcome.status;
    this.#recordEnd(outcome);
    const settled = this.settle(outcome).catch((error: unknown) => {
      gateway.logger.error({ ...logFields(this.connection), err: error }, 'settling a socket failed');
    });
    this.#stopped.abort();
    this.#disconnect();
    // The settlement waits while the store is unavailable; the report of a failure does not.
    const timeUp = Promise.withResolvers<void>();
    const alarm = timers.alarm(maxSettlementWaitMs, timeUp.resolve);
    await (outcome.errorCode === undefined ? settled : Promise.race([settled, timeUp.promise]));
    alarm.cancel();
    notifyClient();
    await settled;
  }

  /** Records the metrics of the socket and ends its span. */
  #recordEnd({ status }: Outcome): void {
    const attributes = attributesOf[this.#path];
    socketsActive.add(-1, attributes);
    const ended = { ...attributes, 'http.response.status_code': status };
    socketDuration.record((performance.now() - this.#openedAt) / 1e3, ended);
    this.connection.trace?.end(ended, status >= 500 ? String(status) : undefined, `GET ${this.#path}`);
  }

  async #clientClosed(code: number): Promise<void> {
    const isNormal = code === 1000 || code === 1001 || code === 1005;
    const aborted = { status: 499, errorCode: 'client_closed_request' };
    await this.end(isNormal ? { status: 200 } : aborted, () => {});
    this.#logEnd();
    this.#ended.resolve();
  }

  #logEnd(): void {
    const { gateway, key, stream } = this.connection;
    logAccess(gateway, 'socket closed', {
      context: this.connection,
      operation: operationOf[this.#path],
      keyId: key.caller.tokenId,
      method: 'GET',
      route: this.#path,
      status: this.#status,
      bytes: stream instanceof Socket ? stream.bytesWritten : 0,
      began: this.#openedAt,
      aborted: this.#status === 499,
    });
  }

  #failed(error: unknown): void {
    const { gateway } = this.connection;
    if (this.isEnding || this.client.disconnected.aborted) return;
    if (!(error instanceof Failure))
      gateway.logger.error({ ...logFields(this.connection), err: error }, 'handling a socket failed');
    this.fail(error);
  }

  #idleTimedOut(): void {
    // A client that reads slowly is not idle. Pings detect whether it is alive.
    if (this.client.needsDrain) this.#idleAlarm.refresh();
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
