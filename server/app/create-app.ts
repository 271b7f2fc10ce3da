import express, { type Express, type RequestHandler } from 'express';
import { modelFailure } from '../calls/model-failure.ts';
import { authenticate, limitRate, requireAdmin, requireMemberRole } from '../http/authenticate.ts';
import { BodyBudget, reserveBody } from '../http/body-budget.ts';
import { openApiBundle } from '../http/contract-documents.ts';
import { cors } from '../http/cors.ts';
import { fallbackRunner } from '../http/fallback.ts';
import type { Gateway } from '../http/gateway.ts';
import { readBody } from '../http/read-body.ts';
import { refuseInMaintenance } from '../http/readiness.ts';
import { renderFailure } from '../http/render-failure.ts';
import { dispatch } from '../http/reply.ts';
import { startRequest } from '../http/request-context.ts';
import { route } from '../http/routes.ts';
import { bodyTest, validateRequest } from '../http/validate-request.ts';
import { handlers } from '../operations/registry.ts';
import { renderMissingPage } from '../operations/service/send-site-file.ts';
import { bodyMbPerKey } from '../settings/settings.ts';

/**
 * The gateway's HTTP interface as an Express application. It can be mounted in another application, before any
 * middleware that reads the request body. WebSocket endpoints are added by `attachSockets`. `responseChecks`: see
 * `checkResponses`.
 */
export function createApp(
  gateway: Gateway,
  { responseChecks = [] }: { responseChecks?: RequestHandler[] } = {},
): Express {
  const maxMb = () => gateway.settings.limits.bodyMb;
  const budget = new BodyBudget({ maxMb: () => bodyMbPerKey(gateway.settings), timers: gateway.timers });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(startRequest(gateway, gateway));
  app.use(cors);
  app.use(route);
  app.use(authenticate(gateway));
  app.use(limitRate(gateway.rateLimiter));
  app.use(requireAdmin);
  app.use(requireMemberRole);
  app.use(refuseInMaintenance(gateway));
  app.use(reserveBody(budget, maxMb));
  app.use(readBody(openApiBundle, { maxMb, parser: gateway.bodyParser }));
  app.use(validateRequest(openApiBundle, modelFailure));
  if (responseChecks.length > 0) app.use(responseChecks);
  app.use(dispatch(gateway, handlers, fallbackRunner(gateway, bodyTest(openApiBundle))));
  app.use(renderMissingPage(gateway));
  app.use(renderFailure(gateway.logger));
  return app;
}
