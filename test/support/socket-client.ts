import {
  type ConnectOptions,
  HandshakeRefused,
  connect as open,
  type SocketClient,
} from '../../client/conformance/sockets/socket-client.ts';
import { noteAnswer, noteEvent } from './told-errors.ts';

export { type ConnectOptions, HandshakeRefused, type SocketClient };

/** Opens a socket, and keeps in mind what errors a gateway tells on it. @throws HandshakeRefused when the answer is no 101 */
export async function connect(
  address: string,
  options: Omit<ConnectOptions, 'onFrame'> = {},
): Promise<SocketClient> {
  try {
    return await open(address, {
      ...options,
      onFrame(frame, { headers }) {
        // The ids of providers and mocks have another form.
        if (/^req_[0-9a-f]{32}$/.test(String(headers['x-request-id']))) noteEvent(frame);
      },
    });
  } catch (error) {
    if (error instanceof HandshakeRefused)
      noteAnswer({ method: 'get', path: new URL(address).pathname }, error.status, error.text);
    throw error;
  }
}
