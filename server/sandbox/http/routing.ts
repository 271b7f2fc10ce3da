import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { customizeVoices } from '../native/customization.ts';
import { generateMultimodal } from '../native/multimodal.ts';
import { synthesizeSpeech } from '../native/synthesizer.ts';
import { requireUpgrade, socketPaths } from '../sockets/protocols.ts';
import { type Exchange, type Route, type Services, sendJson } from './exchange.ts';
import { internalError, NativeError } from './native-error.ts';

/** The subset of logging methods used here. A pino logger is compatible. */
export interface SandboxLogger {
  error(details: object, message: string): void;
}

export interface RoutingContext {
  services: Services;
  key: string;
  logger: SandboxLogger | undefined;
  /** Routes in addition to the speech routes. */
  routes: readonly Route[];
}

const speechRoutes: readonly Route[] = [
  {
    methods: ['POST'],
    path: /^\/api\/v1\/services\/audio\/tts\/SpeechSynthesizer$/,
    handler: synthesizeSpeech,
  },
  {
    methods: ['POST'],
    path: /^\/api\/v1\/services\/aigc\/multimodal-generation\/generation$/,
    handler: generateMultimodal,
  },
  {
    methods: ['POST'],
    path: /^\/api\/v1\/services\/audio\/tts\/customization$/,
    handler: customizeVoices,
  },
  ...socketPaths.map((path) => ({ methods: ['GET'], path, handler: requireUpgrade })),
  {
    methods: ['GET', 'HEAD'],
    path: /^\/files\/[^/]+$/,
    handler: (exchange) => exchange.services.files.serve(exchange),
    isPublic: true,
  },
];

/** Handles one request. Never throws. */
export async function routeRequest(
  { services, key, logger, routes }: RoutingContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  try {
    const url = requestUrl(request);
    const exchange: Exchange = { services, request, response, url, requestId, signal: closed.signal };
    try {
      const route = findRoute([...speechRoutes, ...routes], request.method ?? '', url.pathname);
      if (!route.isPublic) checkKey(request, key);
      await route.handler(exchange);
    } catch (error) {
      if (closed.signal.aborted || response.headersSent) throw error;
      const failure = error instanceof NativeError ? error : internalError();
      sendJson(exchange, failure.status, failure.body(requestId), failure.headers);
      if (failure !== error) throw error;
    }
  } catch (error) {
    if (closed.signal.aborted) return;
    logger?.error({ err: error, request_id: requestId, path: request.url }, 'sandbox request failed');
    if (!response.writableEnded) response.destroy();
  }
}

export function requestUrl({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://sandbox');
  } catch {
    return new URL('http://sandbox/');
  }
}

function findRoute(routes: readonly Route[], method: string, path: string): Route {
  const matching = routes.filter((route) => route.path.test(path));
  if (matching.length === 0) throw new NativeError(404, 'NotFound', `No route ${path.slice(0, 200)}`);
  const route = matching.find(({ methods }) => methods.includes(method));
  if (!route) {
    const allow = matching.flatMap(({ methods }) => methods).join(', ');
    throw new NativeError(405, 'MethodNotAllowed', `This path accepts ${allow}`, { allow });
  }
  return route;
}

/** Throws a `NativeError` 401 unless the request carries the key as a bearer token. */
export function checkKey({ headers }: IncomingMessage, key: string): void {
  const [, provided = ''] = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? [];
  // Hashing makes both values equally long, which the comparison requires.
  const [first, second] = [provided, key].map((text) => createHash('sha256').update(text).digest());
  if (!first || !second || !timingSafeEqual(first, second)) {
    throw new NativeError(401, 'InvalidApiKey', 'The API key is missing or invalid');
  }
}
