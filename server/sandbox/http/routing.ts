import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { customizeVoices } from '../native/customization.ts';
import { generateMultimodal } from '../native/multimodal.ts';
import { synthesizeSpeech } from '../native/synthesizer.ts';
import { answerWithoutUpgrade, socketPaths } from '../sockets/protocols.ts';
import { type Exchange, type Route, type Services, sendJson } from './exchange.ts';
import { internalError, NativeError } from './native-error.ts';

/** The logging methods that are used; a pino logger fits. */
export interface SandboxLogger {
  error(details: object, message: string): void;
}

export interface RoutingContext {
  services: Services;
  key: string;
  logger: SandboxLogger | undefined;
  /** Those of other rooms beside the speech routes. */
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
  ...socketPaths.map((path) => ({ methods: ['GET'], path, handler: answerWithoutUpgrade })),
  {
    methods: ['GET', 'HEAD'],
    path: /^\/files\/[^/]+$/,
    handler: (exchange) => exchange.services.files.serve(exchange),
    open: true,
  },
];

/** Answers one request; never throws. */
export async function routeRequest(
  { services, key, logger, routes }: RoutingContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  const left = new AbortController();
  response.once('close', () => left.abort());
  try {
    const url = requestUrl(request);
    const exchange: Exchange = { services, request, response, url, requestId, signal: left.signal };
    try {
      const route = findRoute([...speechRoutes, ...routes], request.method ?? '', url.pathname);
      if (!route.open) checkKey(request, key);
      await route.handler(exchange);
    } catch (error) {
      if (left.signal.aborted || response.headersSent) throw error;
      const refusal = error instanceof NativeError ? error : internalError();
      sendJson(exchange, refusal.status, refusal.body(requestId), refusal.headers);
      if (refusal !== error) throw error;
    }
  } catch (error) {
    if (left.signal.aborted) return;
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
    throw new NativeError(405, 'MethodNotAllowed', `This path takes ${allow}`, { allow });
  }
  return route;
}

/** Throws a `NativeError` 401 unless the request carries the key as a bearer token. */
export function checkKey({ headers }: IncomingMessage, key: string): void {
  const [, given = ''] = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? [];
  // Hashing first makes both sides equally long, which the comparison needs.
  const [first, second] = [given, key].map((text) => createHash('sha256').update(text).digest());
  if (!first || !second || !timingSafeEqual(first, second)) {
    throw new NativeError(401, 'InvalidApiKey', 'The API key is missing or wrong');
  }
}
