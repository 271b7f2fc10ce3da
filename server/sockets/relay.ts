import type { WebSocket } from 'ws';
import type { Channel } from '../channels/channel.ts';
import { openSocketWithFailover, recordClose, type SocketRequest } from '../channels/socket.ts';
import { within } from '../telemetry/work.ts';
import type { Connection } from './connection.ts';
import { Peer, type PeerEvents } from './peer.ts';

export interface RelayEvents {
  fromClient(data: Buffer, binary: boolean): void | Promise<void>;
  fromUpstream(data: Buffer, binary: boolean): void | Promise<void>;
  clientClosed(code: number): void;
  /** The client takes nothing of what is sent to it, and has not for long. */
  clientStalled(): void;
  /** Only for an upstream that closed by itself. */
  upstreamClosed(code: number): void;
  failed(error: unknown): void;
}

/** A client and the upstream it is connected to at the moment, each held back while the other is behind. */
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
      behind: (behind) => this.#upstream?.peer.hold(behind),
      failed: (error) => on.failed(error),
      stalled: () => on.clientStalled(),
    };
    this.client = new Peer(socket, connection.timers, events, connection.stream);
  }

  /** The channel of the upstream that is connected; undefined: none is. */
  get channel(): Channel | undefined {
    return this.#upstream?.channel;
  }

  /** Name of the last channel that was connected; empty: none was. */
  get channelName(): string {
    return this.#channelName;
  }

  /**
   * Connects to one of the channels, and leaves the one before.
   *
   * @throws Failure when none can be reached; an AbortError when the client is gone or the relay was stopped.
   */
  async connect(channels: readonly Channel[]): Promise<void> {
    const { gateway, key, model, timers } = this.#connection;
    const signal = AbortSignal.any([this.client.gone, this.#stopped.signal]);
    const request = { path: this.#path, model: model.id, user: key.caller.userId, signal, timers };
    const opened = await within(this.#connection, () =>
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
        this.client.hold(false);
        this.#on.upstreamClosed(code);
      },
      behind: (behind) => {
        if (isCurrent()) this.client.hold(behind);
      },
      failed: (error) => this.#on.failed(error),
    });
    this.#upstream = { peer, channel };
    this.#channelName = channel.name;
    if (this.client.behind) peer.hold(true);
  }

  toUpstream(data: Buffer | string): void {
    this.#upstream?.peer.send(data, false);
  }

  /** Leaves the upstream, of which nothing is heard any more. */
  disconnect(): void {
    const left = this.#upstream?.peer;
    this.#upstream = undefined;
    left?.close(1000);
    this.client.hold(false);
  }

  /** Disconnects for ever. The client stays, to hear why. */
  stop(): void {
    this.#stopped.abort();
    this.disconnect();
  }
}
