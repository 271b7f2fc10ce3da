/** Listener of an open socket. */
export interface SocketListener {
  /** A text frame, or the bytes of a binary frame. */
  frame(data: string | Uint8Array): void;
  /** The socket is closed. Code 1006 means a lost connection. */
  closed(code: number, reason: string): void;
}

/** An open WebSocket in Node or in a browser. */
export interface Socket {
  /** The gateway's id of the handshake. Undefined in browsers. */
  readonly requestId: string | undefined;
  /** Sets the listener. Frames that arrived before are delivered to it. */
  listen(listener: SocketListener): void;
  /** Sends a text frame. Resolves when another one can be sent. */
  send(text: string): Promise<void>;
  /** Stops reading, so that the gateway has to wait. Not available in browsers. */
  pause?(): void;
  resume?(): void;
  /** Closes with code 1000. */
  close(): void;
}

/** Parameters of a handshake. */
export interface SocketRequest {
  /** A `ws:` or `wss:` URL. */
  url: string;
  key: string;
  /** Additional headers. Browsers send none. */
  headers: Record<string, string>;
  /** Whether the gateway accepts the key as a subprotocol, which browsers require. */
  keyAsSubprotocol: boolean;
  /** Aborts the handshake with its reason. */
  signal: AbortSignal;
}
