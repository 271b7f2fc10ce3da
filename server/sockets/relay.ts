import type { WebSocket } from 'ws';
import type { Channel } from '../channels/channel.ts';
import { openSocketWithFailover, recordClose, type SocketRequest } from '../channels/socket.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import type { Connection } from './connection.ts';
import { Peer, type PeerEvents } from './peer.ts';

export interface RelayEvents {
  fromClient(data: Buffer, binary: boolean): void | Promise<void>;
  fromUpstream(data: Buffer, binary: boolean): void | Promise<void>;
  clientClosed(code: number): void;
  /** The client has stopped reading. */
  clientTooSlow(): void;
  /** The upstream closed the connection. Not called after `disconnect`. */
  upstreamClosed(code: number): void;
  failed(error: unknown): void;
}

/** Connects a client to one upstream at a time, with backpressure in both directions. */
export class Relay {
  readonly client: Peer;
  readonly #connection: Connection;
  readonly #path: SocketRequest['path'];
  readonly #on: RelayEvents;
  readonly #stopped = new AbortController();
  #upstream: { peer: Peer; channel: Channel } | undefined;
  #channelName = '';

  constructor(connection: Connection, path: SocketRequest['path'], socket: WebSocket, on: RelayEvents) {
    this.#connection = connection;
    this.#path = path;
    this.#on = on;
    const events: PeerEvents = {
      frame: (data, binary) => on.fromClient(data, binary),
      closed: (code) => on.clientClosed(code),
      backpressure: (needsDrain) => this.#upstream?.peer.setPaused(needsDrain),
      failed: (error) => on.failed(error),
      tooSlow: () => on.clientTooSlow(),
    };
    this.client = new Peer(socket, connection.timers, events, connection.stream);
  }

  /** The channel of the connected upstream. Undefined if there is none. */
  get channel(): Channel | undefined {
    return this.#upstream?.channel;
  }

  /** Name of the last connected channel. Empty if there was none. */
  get channelName(): string {
    return this.#channelName;
  }

  /**
   * Connects to one of the channels and disconnects the previous one.
   *
   * @throws Failure if no channel can be reached, or an AbortError if the client disconnected or the relay was stopped.
   */
  async connect(channels: readonly Channel[]): Promise<void> {
    const { gateway, key, model, timers } = this.#connection;
    const signal = AbortSignal.any([this.client.disconnected, this.#stopped.signal]);
    const request = { path: this.#path, model: model.id, user: key.caller.userId, signal, timers };
    const opened = await runInContext(this.#connection, () =>
      openSocketWithFailover(gateway.channels.order(channels), request, gateway.logger),
    );
    const { channel, socket } = opened;
    if (signal.aborted) {
      socket.terminate();
      signal.throwIfAborted();
    }
    this.disconnect();
    const isCurrent = () => this.#upstream?.peer === peer;
    const peer = new Peer(socket, timers, {
      frame: (data, binary) => (isCurrent() ? this.#on.fromUpstream(data, binary) : undefined),
      closed: (code) => {
        if (!isCurrent()) return;
        recordClose(opened, code);
        this.#upstream = undefined;
        this.client.setPaused(false);
        this.#on.upstreamClosed(code);
      },
      backpressure: (needsDrain) => {
        if (isCurrent()) this.client.setPaused(needsDrain);
      },
      failed: (error) => this.#on.failed(error),
    });
    this.#upstream = { peer, channel };
    this.#channelName = channel.name;
    if (this.client.needsDrain) peer.setPaused(true);
  }

  toUpstream(data: Buffer | string): void {
    this.#upstream?.peer.send(data, false);
  }

  /** Closes the connection to the upstream and ignores its later events. */
  disconnect(): void {
    const previous = this.#upstream?.peer;
    this.#upstream = undefined;
    previous?.close(1000);
    this.client.setPaused(false);
  }

  /** Disconnects the upstream and connects no other. The client stays connected. */
  stop(): void {
    this.#stopped.abort();
    this.disconnect();
  }
}
