import { createServer, type Socket } from 'node:net';

/** Picks the whole answer, status line and all, by the head of a request in lower case. */
export type PickAnswer = (head: string) => Buffer;

/**
 * A keep-alive HTTP server that answers with finished bytes. Over `node:net`, since `node:http` would cost as
 * much as the proxies that it is there to measure. Takes bodies with a content length only.
 */
export function createStubServer(pick: PickAnswer) {
  return createServer({ noDelay: true }, (socket) => serve(socket, pick));
}

function serve(socket: Socket, pick: PickAnswer): void {
  let rest: Buffer | undefined;
  /** Bytes of the current request's body that have not come yet. */
  let missing = 0;
  let answer: Buffer | undefined;
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    let bytes = rest === undefined ? data : Buffer.concat([rest, data]);
    rest = undefined;
    while (bytes.length > 0) {
      if (answer === undefined) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) {
          rest = bytes;
          return;
        }
        const head = bytes.toString('latin1', 0, end).toLowerCase();
        answer = pick(head);
        missing = bodyLength(head);
        bytes = bytes.subarray(end + 4);
      }
      const taken = Math.min(missing, bytes.length);
      missing -= taken;
      bytes = bytes.subarray(taken);
      if (missing > 0) return;
      socket.write(answer);
      answer = undefined;
    }
  });
}

function bodyLength(head: string): number {
  const at = head.indexOf('\r\ncontent-length:');
  if (at >= 0) return Number.parseInt(head.slice(at + 17, at + 33), 10);
  if (head.includes('\r\ntransfer-encoding:')) throw new Error('the stub takes no chunked request bodies');
  return 0;
}

/** An answer with a content length. */
export function wholeAnswer(contentType: string, body: Buffer): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** A chunked answer, one chunk a piece, as an upstream sends events. */
export function chunkedAnswer(contentType: string, pieces: readonly string[]): Buffer {
  const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
  return Buffer.from(`${head}${chunks.join('')}0\r\n\r\n`);
}

export const notFound: Buffer = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
