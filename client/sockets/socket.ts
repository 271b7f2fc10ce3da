/** What happens on an open socket. */
export interface SocketListener {
  /** A text frame, or the bytes of a binary frame. */
  frame(data: string | Uint8Array): void;
  /** The socket is closed; nothing follows. Code 1006 means that the connection broke. */
  closed(code: number, reason: string): void;
}

/** An open WebSocket, of Node or of a browser. */
export interface Socket {
  /** The gateway's id of the handshake; browsers do not show it. */
  readonly requestId: string | undefined;
  /** Names the one listener; frames wait until then. */
  listen(listener: SocketListener): void;
  /** Sends a text frame. Resolves when there is room for another one. */
  send(text: string): Promise<void>;
  /** Stops reading, so that the gateway waits; browsers cannot. */
  pause?(): void;
  resume?(): void;
  /** Closes with code 1000. */
  close(): void;
}

/** How to open a socket. */
export interface SocketTarget {
  /** A `ws:` or `wss:` address. */
  url: string;
  key: string;
  /** Headers beside the key; browsers send none. */
  headers: Record<string, string>;
  /** Whether the gateway takes the key as a subprotocol, the only way that browsers have. */
  keyAsSubprotocol: boolean;
  /** Ends the handshake; its reason is thrown. */
  signal: AbortSignal;
}
