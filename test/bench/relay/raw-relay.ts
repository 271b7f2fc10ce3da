import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { highWaterBytes, lowWaterBytes } from '../../../server/sockets/limits.ts';

/**
 * The least a relay on `ws` can do: no key, no look into the frames, no books; but, like the gateway, it stops
 * reading where the other side is behind. The first argument is the upstream's origin.
 */

const upstreamOrigin = process.argv[2] ?? '';
const server = createServer((_request, response) => void response.writeHead(404).end());
const switcher = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });

switcher.on('connection', (client, request) => {
  client.pause();
  const upstream = new WebSocket(upstreamOrigin + request.url, { perMessageDeflate: false });
  upstream.once('open', () => client.resume());
  passOn(client, upstream);
  passOn(upstream, client);
});

function passOn(from: WebSocket, to: WebSocket): void {
  let held = false;
  const sent = () => {
    if (!held || to.bufferedAmount > lowWaterBytes) return;
    held = false;
    from.resume();
  };
  from.on('message', (data: Buffer, binary: boolean) => {
    to.send(data, { binary }, sent);
    if (held || to.bufferedAmount <= highWaterBytes) return;
    held = true;
    from.pause();
  });
  from.on('close', (code) => (code === 1000 ? to.close(code) : to.terminate()));
  // A close follows every error.
  from.on('error', () => {});
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
