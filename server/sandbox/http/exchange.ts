import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import type { PromptLoader } from '../custom-voices/prompt-audio.ts';
import type { SpeechEngine } from '../speech/engine.ts';
import type { FileStore } from './file-store.ts';

/** Services shared by the request handlers. */
export interface Services {
  engine: SpeechEngine;
  files: FileStore;
  voices: CustomVoices;
  prompts: PromptLoader;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Delay of the trigger `[[slow]]`. */
  slowDelayMs: number;
  timeoutsMs: SocketTimeouts;
}

/** Timeouts after which an inactive socket is closed, in milliseconds. */
export interface SocketTimeouts {
  /** Inference: maximum time between two texts of a task. */
  text: number;
  /** Inference: maximum time without a task. Realtime: maximum time without a frame in either direction. */
  idle: number;
}

/** One request and its response. */
export interface Exchange {
  services: Services;
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  requestId: string;
  /** Aborts when the client disconnects or the server closes. */
  signal: AbortSignal;
}

export type Handler = (exchange: Exchange) => Promise<void>;

/** A path with its methods and request handler. */
export interface Route {
  methods: readonly string[];
  path: RegExp;
  handler: Handler;
  /** True if the route requires no API key. */
  isPublic?: boolean;
}

/** Sends a JSON response. */
export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  sendText(exchange, status, JSON.stringify(body), headers);
}

/** Sends serialized JSON as the response. It can be malformed. */
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
