import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { highWaterBytes, lowWaterBytes } from '../../../server/sockets/limits.ts';

// A minimal relay with `ws`: no keys, no parsing of frames, no ledger. Like the gateway, it stops reading if the other side
// is slower. The first argument is the origin of the upstream.

const upstreamOrigin = process.argv[2] ?? '';
const server = createServer((_request, response) => void response.writeHead(404).end());
const switcher = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });

switcher.on('connection', (client, request) => {
  client.pause();
  const upstream = new WebSocket(upstreamOrigin + request.url, { perMessageDeflate: false });
  upstream.once('open', () => client.resume());
  relay(client, upstream);
  relay(upstream, client);
});

function relay(from: WebSocket, to: WebSocket): void {
  let isPaused = false;
  const resumeIfDrained = () => {
    if (!isPaused || to.bufferedAmount > lowWaterBytes) return;
    isPaused = false;
    from.resume();
  };
  from.on('message', (data: Buffer, binary: boolean) => {
    to.send(data, { binary }, resumeIfDrained);
    if (isPaused || to.bufferedAmount <= highWaterBytes) return;
    isPaused = true;
    from.pause();
  });
  from.on('close', (code) => (code === 1000 ? to.close(code) : to.terminate()));
  // Every error is followed by a close.
  from.on('error', () => {});
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
