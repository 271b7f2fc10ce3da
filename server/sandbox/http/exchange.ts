import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SpeechEngine } from '../speech/engine.ts';
import type { FileStore } from './file-store.ts';

/** What the routes share. */
export interface Services {
  engine: SpeechEngine;
  files: FileStore;
  /** Milliseconds that `[[slow]]` waits. */
  slowness: number;
}

/** One request on its way to an answer. */
export interface Exchange {
  services: Services;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  requestId: string;
  /** Aborts when the client leaves or the server closes. */
  signal: AbortSignal;
}

export type Handler = (exchange: Exchange) => Promise<void>;

/** Answers with one JSON body. */
export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  sendText(exchange, status, JSON.stringify(body), headers);
}

/** Answers with text that says it is JSON. */
export function sendText(
  { response }: Exchange,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
}
