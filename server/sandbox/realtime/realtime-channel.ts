import { randomBytes } from 'node:crypto';
import type { NativeError } from '../http/native-error.ts';
import type { Connection } from '../sockets/connection.ts';
import { RestartableTimeout } from '../sockets/connection.ts';
import { closeCodeFor } from '../triggered-errors.ts';

export function newId(kind: 'event' | 'sess' | 'resp' | 'item'): string {
  return `${kind}_${randomBytes(12).toString('base64url')}`;
}

/** Sends the server events of a realtime socket, and closes the socket when it is idle. */
export class RealtimeChannel {
  readonly connection: Connection;
  readonly #idle: RestartableTimeout;

  /** `idleTimeout` is in milliseconds. */
  constructor(connection: Connection, idleTimeout: number) {
    this.connection = connection;
    this.#idle = new RestartableTimeout(idleTimeout, () => connection.close(1000, 'idle'));
    connection.signal.addEventListener('abort', () => this.#idle.stop(), { once: true });
  }

  /** Restarts the idle timeout after a frame in either direction. */
  restartIdleTimeout(): void {
    if (this.connection.isOpen) this.#idle.restart();
  }

  send(type: string, fields: object = {}): void {
    this.connection.send(JSON.stringify({ event_id: newId('event'), type, ...fields }));
    this.restartIdleTimeout();
  }

  /** Sends an `error` event. `eventId` is the id of the client event that caused it. */
  sendError({ status, code, message, field }: NativeError, eventId: string | null = null): void {
    // The realtime protocol has its own code for an invalid field.
    const shownCode = code === 'InvalidParameter' ? 'invalid_value' : code;
    const error = {
      type: errorType(status),
      code: shownCode,
      message,
      param: field ?? null,
      event_id: eventId,
    };
    this.send('error', { error });
  }

  /** Sends an error and closes the connection. */
  fail(error: NativeError): void {
    this.sendError(error);
    this.connection.close(closeCodeFor(error));
  }
}

function errorType(status: number): string {
  if (status === 401 || status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}
