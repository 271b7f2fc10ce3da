import {
  type ConnectOptions,
  HandshakeRefused,
  connect as open,
  type SocketClient,
} from '../conformance/sockets/socket-client.ts';
import { recordEvent, recordResponseBody } from './recorded-errors.ts';

export { type ConnectOptions, HandshakeRefused, type SocketClient };

/** Opens a socket and records the errors that a gateway sends on it. @throws HandshakeRefused if the status is not 101 */
export async function connect(
  address: string,
  options: Omit<ConnectOptions, 'onFrame'> = {},
): Promise<SocketClient> {
  try {
    return await open(address, {
      ...options,
      onFrame(frame, { headers }) {
        // Request ids of providers and mocks have another format.
        if (/^req_[0-9a-f]{32}$/.test(String(headers['x-request-id']))) recordEvent(frame);
      },
    });
  } catch (error) {
    if (error instanceof HandshakeRefused)
      recordResponseBody({ method: 'get', path: new URL(address).pathname }, error.status, error.text);
    throw error;
  }
}
