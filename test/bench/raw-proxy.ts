import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Pool } from 'undici';
import { speechPath, synthesizerPath } from './cases.ts';

// A minimal proxy on Node: no keys, no validation, no ledger. The first argument is the origin of the upstream. Each response
// is written to the client's response with `stream`. With the readable body of `request`, some processes promote half of all
// that they allocate, and use half as much CPU again.

const upstream = new Pool(process.argv[2] ?? '', { connections: 256, keepAliveTimeout: 30_000 });

const server = createServer((request, response) => {
  const done = request.url === speechPath ? forwardSpeech(request, response) : forward(request, response);
  done.catch(() => response.destroy());
});

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await upstream.stream(postOptions(request.url ?? '', request), start(response));
}

/** Does the same upstream work as the gateway: the native call, then the file in its response. */
async function forwardSpeech(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { body } = await upstream.request(postOptions(synthesizerPath, request));
  const { output } = (await json(body)) as { output: { audio: { url: string } } };
  const url = new URL(output.audio.url);
  await upstream.stream({ method: 'GET', path: url.pathname + url.search }, start(response));
}

function postOptions(path: string, request: IncomingMessage) {
  return { method: 'POST', path, headers: pick(request.headers, 'x-native-sse'), body: request } as const;
}

/** Returns a function that sends the head of the upstream's response, and returns where to write its body. */
function start(response: ServerResponse) {
  return ({ statusCode, headers }: { statusCode: number; headers: IncomingHttpHeaders }): ServerResponse =>
    response.writeHead(statusCode, pick(headers));
}

function pick(headers: IncomingHttpHeaders, ...more: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of ['content-type', 'content-length', ...more]) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
