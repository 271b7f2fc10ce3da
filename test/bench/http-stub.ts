import { createServer, type Socket } from 'node:net';

/** Selects the complete response by the lower-case head of a request. */
export type SelectResponse = (head: string) => Buffer;

/**
 * Creates a keep-alive HTTP server that sends prepared bytes. It uses `node:net`, because `node:http` would cost as much as
 * the measured proxies. Request bodies must have a content length.
 */
export function createStubServer(selectResponse: SelectResponse) {
  return createServer({ noDelay: true }, (socket) => serve(socket, selectResponse));
}

function serve(socket: Socket, selectResponse: SelectResponse): void {
  let rest: Buffer | undefined;
  /** Missing bytes of the current request body. */
  let missing = 0;
  let response: Buffer | undefined;
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    let bytes = rest === undefined ? data : Buffer.concat([rest, data]);
    rest = undefined;
    while (bytes.length > 0) {
      if (response === undefined) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) {
          rest = bytes;
          return;
        }
        const head = bytes.toString('latin1', 0, end).toLowerCase();
        response = selectResponse(head);
        missing = bodyLength(head);
        bytes = bytes.subarray(end + 4);
      }
      const consumed = Math.min(missing, bytes.length);
      missing -= consumed;
      bytes = bytes.subarray(consumed);
      if (missing > 0) return;
      socket.write(response);
      response = undefined;
    }
  });
}

function bodyLength(head: string): number {
  const at = head.indexOf('\r\ncontent-length:');
  if (at >= 0) return Number.parseInt(head.slice(at + 17, at + 33), 10);
  if (head.includes('\r\ntransfer-encoding:')) throw new Error('the stub supports no chunked request bodies');
  return 0;
}

/** Returns a response with a content length. */
export function fixedResponse(contentType: string, body: Buffer): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Returns a chunked response with one chunk per text. */
export function chunkedResponse(contentType: string, chunks: readonly string[]): Buffer {
  const encodedChunks = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
  return Buffer.from(`${head}${encodedChunks.join('')}0\r\n\r\n`);
}

export const notFound: Buffer = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
