import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { closeOpcode, FrameReader, textOpcode } from './socket-frames.ts';
import { UpstreamSession } from './upstream-session.ts';

// The provider of the relay benchmark: realtime sessions over plain sockets.

const handshakeSalt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
let sessionCount = 0;

const server = createServer((_request, response) => void response.writeHead(404).end());

server.on('upgrade', (request, stream, head) => {
  // The server listens only on TCP.
  const socket = stream as Socket;
  socket.setNoDelay(true);
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1')
    .update(key + handshakeSalt)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  const model = new URL(request.url ?? '', 'http://stub').searchParams.get('model') ?? '';
  const session = new UpstreamSession(socket, model, sessionCount);
  sessionCount += 1;
  const reader = new FrameReader((opcode, payload) => {
    if (opcode === textOpcode) session.handle(JSON.parse(payload.toString()) as object);
    else if (opcode === closeOpcode) socket.end();
  });
  socket.on('data', (data: Buffer) => reader.read(data));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => session.stop());
  if (head.length > 0) reader.read(head);
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
