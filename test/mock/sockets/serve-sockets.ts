import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemTimers, type Timers } from '../../../server/lib/timers.ts';
import { acceptSockets, opensSocket } from './accept.ts';

/** The sockets of the mock without its HTTP side, which takes longer to start. */
export async function serveSockets(timers: Timers = systemTimers) {
  const server = createServer({ shouldUpgradeCallback: opensSocket }, (_, response) => {
    response.writeHead(404).end();
  });
  const closeSockets = acceptSockets(server, timers);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** Address without a slash at the end. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closeSockets();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
