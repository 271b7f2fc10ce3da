import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Dispatcher, Pool } from 'undici';
import { speechPath, synthesizerPath } from './cases.ts';

// A minimal proxy on Node: no keys, no validation, no ledger. The first argument is the origin of the upstream.

const upstream = new Pool(process.argv[2] ?? '', { connections: 256, keepAliveTimeout: 30_000 });

const server = createServer((request, response) => {
  const done = request.url === speechPath ? forwardSpeech(request, response) : forward(request, response);
  done.catch(() => response.destroy());
});

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await sendResponse(await post(request.url ?? '', request), response);
}

/** Does the same upstream work as the gateway: the native call, then the file in its response. */
async function forwardSpeech(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { body } = await post(synthesizerPath, request);
  const { output } = (await body.json()) as { output: { audio: { url: string } } };
  const url = new URL(output.audio.url);
  await sendResponse(await upstream.request({ method: 'GET', path: url.pathname + url.search }), response);
}

function post(path: string, request: IncomingMessage): Promise<Dispatcher.ResponseData> {
  const headers: Record<string, string> = {};
  for (const name of ['content-type', 'content-length', 'x-native-sse']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return upstream.request({ method: 'POST', path, headers, body: request });
}

function sendResponse(upstreamResponse: Dispatcher.ResponseData, response: ServerResponse): Promise<void> {
  for (const name of ['content-type', 'content-length']) {
    const value = upstreamResponse.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(upstreamResponse.statusCode);
  return pipeline(upstreamResponse.body, response);
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
