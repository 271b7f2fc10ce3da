import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import type { PromptLoader } from '../custom-voices/prompt-audio.ts';
import type { SpeechEngine } from '../speech/engine.ts';
import type { FileStore } from './file-store.ts';

/** What the routes share. */
export interface Services {
  engine: SpeechEngine;
  files: FileStore;
  voices: CustomVoices;
  prompts: PromptLoader;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that `[[slow]]` waits. */
  slowness: number;
  timeouts: SocketTimeouts;
}

/** When a socket whose client is silent is closed; in milliseconds. */
export interface SocketTimeouts {
  /** Inference: between two texts of a task. */
  text: number;
  /** Inference: without a task; realtime: without a frame either way. */
  idle: number;
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

/** One or more methods of a path. */
export interface Route {
  methods: readonly string[];
  path: RegExp;
  handler: Handler;
  /** Served without a key. */
  open?: boolean;
}

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
