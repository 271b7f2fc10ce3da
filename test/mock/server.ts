import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { isObject } from '../../openapi/tools/document.ts';
import { modelFailure } from '../../server/calls/model-failure.ts';
import { authenticate } from '../../server/http/authenticate.ts';
import { BodyParser } from '../../server/http/body-parser.ts';
import { cors } from '../../server/http/cors.ts';
import { readBody } from '../../server/http/read-body.ts';
import { renderFailure } from '../../server/http/render-failure.ts';
import { startRequest } from '../../server/http/request-context.ts';
import { route } from '../../server/http/routes.ts';
import { validateRequest } from '../../server/http/validate-request.ts';
import { systemTimers, type Timers } from '../../server/lib/timers.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { bundle, documented } from '../conformance/contract/documented.ts';
import { applyBehavior, recordRequests } from './apply-behavior.ts';
import { BackingGateway, backedOperations } from './backing-gateway.ts';
import { Behaviors } from './behaviors.ts';
import { MockCallbacks } from './callbacks.ts';
import type { Certificate } from './certificate.ts';
import { control, controlPath } from './control.ts';
import { sendDocumentedResponse } from './documented-response.ts';
import { GeneratedResponses } from './generated-responses.ts';
import { type MockExchange, mockHandlers } from './handlers.ts';
import { mediaPath } from './media.ts';
import { readPreference } from './prefer.ts';
import { RecentRequests } from './recent-requests.ts';
import type { ExamplesFolder } from './record/examples-folder.ts';
import { type RecorderOptions, recordResponses } from './record/recorder.ts';
import { replay } from './record/replay.ts';
import { checkRules } from './rules.ts';
import type { Scenario } from './scenario.ts';
import { sendFile } from './send-file.ts';
import { acceptSockets, isSocketRequest } from './sockets/accept.ts';
import { MockTasks } from './tasks.ts';
import { MockVoices } from './voices.ts';

/** Maximum body size in megabytes, if an operation sets no other. */
const bodyLimitMb = 64;

export interface MockOptions {
  host?: string;
  /** Default: a free port. */
  port?: number;
  timers?: Timers;
  /** Epoch milliseconds. */
  now?: () => number;
  /** Duration of a task in milliseconds, one fifth of it queued. Default: 3000. */
  taskMs?: number;
  /** Pause between two chunks of a stream in milliseconds. Default: 50. */
  paceMs?: number;
  /** Whether stateless JSON responses are generated from their schemas. */
  dynamic?: boolean;
  /** The same seed generates the same values. Default: random. */
  seed?: string;
  /** Recorded responses, which take precedence over the examples of the contract. */
  examples?: ExamplesFolder;
  /** The settings of the control page at the start. */
  scenario?: Scenario;
  /** Signs callbacks. Default: callbacks have no signature. */
  callbackSecret?: string;
  /** Serves https and wss. */
  tls?: Certificate;
  /** Forwards every HTTP request to a gateway and records the responses. Sockets are not recorded. */
  record?: RecorderOptions;
}

export interface Mock {
  /** URL without a trailing slash. */
  url: string;
  server: Server | TlsServer;
  close(): Promise<void>;
}

/**
 * Starts a server for every path of the OpenAPI document and the sockets of the AsyncAPI document. Accepts any key. The code
 * of the gateway validates requests, so that errors are the same.
 */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  const {
    host = '127.0.0.1',
    port = 0,
    timers = systemTimers,
    now = Date.now,
    taskMs = 3000,
    paceMs = 50,
    dynamic = false,
    seed = randomUUID(),
    examples,
    record,
    tls,
    callbackSecret,
    scenario,
  } = options;
  const contract = structuredClone(bundle);
  const validate = validateRequest(() => contract, modelFailure);
  const generated = new GeneratedResponses(seed);
  if (dynamic) void generated.start().catch(() => {});
  const backing = new BackingGateway();
  const callbacks = new MockCallbacks({ timers, now, taskMs, secret: callbackSecret });
  const tasks = new MockTasks({
    now,
    taskMs,
    onCreate: (task, base) => callbacks.schedule(tasks, task, base),
  });
  const voices = new MockVoices({ now, deploymentMs: taskMs });
  const pause = (response: Response) =>
    new Promise<void>((resolve, reject) => {
      if (response.destroyed) return reject(new Error('the client disconnected'));
      const onClose = () => {
        alarm.cancel();
        reject(new Error('the client disconnected'));
      };
      const alarm = timers.alarm(paceMs, () => {
        response.off('close', onClose);
        resolve();
      });
      response.once('close', onClose);
    });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  const behaviors = new Behaviors(Math.random, scenario);
  const requests = new RecentRequests();
  app.use(startRequest({ clock: now, timers }));
  app.use(controlPath, control(behaviors, requests));
  app.use(recordRequests(requests, { now, timers }));
  app.use(cors);
  app.use(mediaPath, (request, response, next) => {
    // Also without an Origin header: a browser may reuse the response for a later request of a page's script.
    response.setHeader('access-control-allow-origin', '*');
    sendFile(request, response, request.path.slice(1)).catch(next);
  });
  app.use(route);
  app.use(applyBehavior(behaviors, timers));
  if (record !== undefined) {
    const forward = recordResponses(record);
    // A request with `Prefer` gets a response from the contract.
    app.use((request: Request, response: Response, next: NextFunction) =>
      request.headers.prefer === undefined ? forward(request, response, next) : next(),
    );
  }
  app.use(
    authenticate({
      keys: { getCached: mockCaller, authenticate: async () => mockCaller() },
      addressOf: () => '',
    }),
  );
  app.use(readBody(() => contract, { maxMb: () => bodyLimitMb, parser: new BodyParser() }));
  app.use(validate);
  app.use((request: Request, response: Response, next: NextFunction) => {
    checkRules(request)
      .then(() => respond(request, response, next))
      .catch(next);
  });
  app.use(renderFailure(createLogger('silent')));

  async function respond(request: Request, response: Response, next: NextFunction): Promise<void> {
    const { operation, params } = request.context;
    if (operation === undefined) return;
    if (operation.errorFamily === 'messages') response.setHeader('request-id', request.context.requestId);
    const preference = readPreference(request.headers.prefer?.toString(), documented(operation.id));
    const base = `${request.protocol}://${request.headers.host ?? 'localhost'}`;
    const body = isObject(request.body) ? request.body : {};
    const pauseStream = () => pause(response);
    if (examples !== undefined && preference === undefined) {
      if (await replay(examples, request, response, { base, pause: pauseStream })) return;
    }
    const handler = mockHandlers.get(operation.id);
    const ids = documented(operation.id).parameters.filter(({ in: place }) => place === 'path');
    const isExampleId =
      ids.length > 0 && ids.every(({ name, examples }) => examples.includes(params[name] ?? ''));
    // Every model of the catalog exists on the backing gateway, and no other resource without a handler.
    const usesExample = preference !== undefined || (isExampleId && operation.id !== 'getModel');
    const isUnknownId = handler === undefined && Object.keys(params).length > 0;
    const isBacked = isUnknownId || backedOperations.has(operation.id);
    if (!usesExample && isBacked) return backing.handle(request, response, next);
    if (handler === undefined || usesExample) {
      const isGenerated = preference?.dynamic ?? (dynamic && handler === undefined);
      return sendDocumentedResponse(request, response, {
        base,
        preference,
        ...(isGenerated && { generated }),
      });
    }
    const exchange: MockExchange = {
      request,
      response,
      body,
      params,
      tasks,
      voices,
      base,
      pause: pauseStream,
    };
    await handler(exchange);
  }

  const serverOptions = { shouldUpgradeCallback: isSocketRequest };
  const server =
    tls === undefined
      ? createServer(serverOptions, app)
      : createTlsServer({ ...serverOptions, cert: tls.cert, key: tls.key }, app);
  const closeSockets = acceptSockets(server, timers, { behaviors, requests });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    await generated.close();
    throw error;
  }
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${(server.address() as AddressInfo).port}`,
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      closeSockets();
      callbacks.close();
      await closed;
      await Promise.all([generated.close(), backing.close()]);
    },
  };
}

const mockCaller = () => ({
  tokenId: 1,
  userId: 1,
  tokenName: 'mock',
  isAdmin: true,
  group: 'default',
  modelLimits: null,
});
