import { randomBytes } from 'node:crypto';
import type { NativeError } from '../http/native-error.ts';
import { closeCodeOf } from '../refusals.ts';
import type { Connection } from '../sockets/connection.ts';
import { Countdown } from '../sockets/connection.ts';

export function newId(kind: 'event' | 'sess' | 'resp' | 'item'): string {
  return `${kind}_${randomBytes(12).toString('base64url')}`;
}

/** The server's side of one realtime socket: writes its events and closes it, also when nothing happens on it. */
export class RealtimeChannel {
  readonly connection: Connection;
  readonly #idle: Countdown;

  /** `idleTimeout` is in milliseconds. */
  constructor(connection: Connection, idleTimeout: number) {
    this.connection = connection;
    this.#idle = new Countdown(idleTimeout, () => connection.close(1000, 'idle'));
    connection.signal.addEventListener('abort', () => this.#idle.stop(), { once: true });
  }

  /** A frame has come or gone. */
  touch(): void {
    if (this.connection.open) this.#idle.restart();
  }

  send(type: string, fields: object = {}): void {
    this.connection.send(JSON.stringify({ event_id: newId('event'), type, ...fields }));
    this.touch();
  }

  /** Sends an `error` event; `eventId` is the client event that caused it. */
  sendError({ status, code, message, field }: NativeError, eventId: string | null = null): void {
    // The code that this protocol has for a refused field.
    const shown = code === 'InvalidParameter' ? 'invalid_value' : code;
    const error = { type: errorType(status), code: shown, message, param: field ?? null, event_id: eventId };
    this.send('error', { error });
  }

  /** Ends the connection with an error. */
  fail(error: NativeError): void {
    this.sendError(error);
    this.connection.close(closeCodeOf(error));
  }
}

function errorType(status: number): string {
  if (status === 401 || status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}
