import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
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
import { answers, type Exchange, sendFile } from './answers.ts';
import { behave, noteRequests } from './behave.ts';
import { Behaviours } from './behaviours.ts';
import { control, controlPath } from './control.ts';
import { answerAsDocumented } from './documented-answer.ts';
import { MadeUpAnswers } from './dynamic.ts';
import { mediaPath } from './media.ts';
import { readPreference } from './prefer.ts';
import { RecentRequests } from './recent-requests.ts';
import type { ExamplesFolder } from './record/examples-folder.ts';
import { type RecorderOptions, recorder } from './record/recorder.ts';
import { replay } from './record/replay.ts';
import { acceptSockets, opensSocket } from './sockets/accept.ts';
import { MockTasks } from './tasks.ts';

/** Largest body, in megabytes, where an operation sets no other. */
const bodyLimitMb = 64;

export interface MockOptions {
  host?: string;
  /** Default: any free port. */
  port?: number;
  timers?: Timers;
  /** Epoch milliseconds. */
  now?: () => number;
  /** How long a task takes, a fifth of it in the queue. Default 3000. */
  taskMs?: number;
  /** Pause between two pieces of a stream. Default 50. */
  paceMs?: number;
  /** JSON answers of operations without state are made up, within their schemas. */
  dynamic?: boolean;
  /** With the same seed the same is made up. Default: another one each time. */
  seed?: string;
  /** Recorded answers, which come before the contract's. */
  examples?: ExamplesFolder;
  /** Every request over HTTP goes to a gateway, whose answers are kept; sockets are played as always. */
  record?: RecorderOptions;
}

export interface Mock {
  /** Address it listens on, without a slash at the end. */
  url: string;
  server: Server;
  close(): Promise<void>;
}

/**
 * Answers every path of the OpenAPI document and plays the sockets of the AsyncAPI document. Keys (any is good) and
 * requests are checked by the very code of the gateway, so that a refusal reads as it does there.
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
  } = options;
  const contract = structuredClone(bundle);
  const validate = validateRequest(contract, modelFailure);
  const madeUp = new MadeUpAnswers(seed);
  if (dynamic) void madeUp.warm().catch(() => {});
  const tasks = new MockTasks({ now, taskMs });
  const pause = (response: Response) =>
    new Promise<void>((resolve, reject) => {
      if (response.destroyed) return reject(new Error('the client left'));
      const leave = () => {
        alarm.cancel();
        reject(new Error('the client left'));
      };
      const alarm = timers.alarm(paceMs, () => {
        response.off('close', leave);
        resolve();
      });
      response.once('close', leave);
    });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  const behaviours = new Behaviours();
  const requests = new RecentRequests();
  app.use(startRequest({ clock: now, timers }));
  app.use(controlPath, control(behaviours, requests));
  app.use(noteRequests(requests, { now, timers }));
  app.use(cors);
  app.use(mediaPath, (request, response, next) => {
    // Also without an Origin header: a browser may reuse the response for a later request of a page's script.
    response.setHeader('access-control-allow-origin', '*');
    void sendFile(response, request.path.slice(1)).catch(() => next());
  });
  app.use(route);
  app.use(behave(behaviours, timers));
  if (record !== undefined) {
    const pass = recorder(record);
    // Who asks for a certain answer gets it from the contract.
    app.use((request: Request, response: Response, next: NextFunction) =>
      request.headers.prefer === undefined ? pass(request, response, next) : next(),
    );
  }
  app.use(
    authenticate({
      keys: { getCached: anyCaller, authenticate: async () => anyCaller() },
      addressOf: () => '',
    }),
  );
  app.use(readBody(contract, { maxMb: () => bodyLimitMb, parser: new BodyParser() }));
  app.use(validate);
  app.use((request: Request, response: Response, next: NextFunction) => {
    answer(request, response).catch(next);
  });
  app.use(renderFailure(createLogger('silent')));

  async function answer(request: Request, response: Response): Promise<void> {
    const { operation, params } = request.context;
    if (operation === undefined) return;
    if (operation.errorFamily === 'messages') response.setHeader('request-id', request.context.requestId);
    const preference = readPreference(request.headers.prefer?.toString(), documented(operation.id));
    const base = `http://${request.headers.host ?? 'localhost'}`;
    const body = isObject(request.body) ? request.body : {};
    const paced = () => pause(response);
    if (examples !== undefined && preference === undefined) {
      if (await replay(examples, request, response, { base, pause: paced })) return;
    }
    const own = answers.get(operation.id);
    const example = documented(operation.id).parameters.some(
      ({ in: place, name, examples }) => place === 'path' && examples.includes(params[name] ?? ''),
    );
    if (own === undefined || preference !== undefined || example) {
      const made = preference?.dynamic ?? (dynamic && own === undefined);
      return answerAsDocumented(request, response, { base, preference, ...(made && { madeUp }) });
    }
    const exchange: Exchange = { request, response, body, params, tasks, base, pause: paced };
    await own(exchange);
  }

  const server = createServer({ shouldUpgradeCallback: opensSocket }, app);
  const closeSockets = acceptSockets(server, timers, { behaviours, requests });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    await madeUp.close();
    throw error;
  }
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}`,
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      closeSockets();
      await closed;
      await madeUp.close();
    },
  };
}

const anyCaller = () => ({
  tokenId: 1,
  userId: 1,
  tokenName: 'mock',
  isAdmin: true,
  group: 'default',
  modelLimits: null,
});
