import express, { type Express } from 'express';
import type { Gateway } from './gateway.ts';
import { authenticate, limitRate, requireRole } from './http/authenticate.ts';
import { startCall } from './http/call.ts';
import { contractValidator } from './http/contract.ts';
import { cors } from './http/cors.ts';
import { readForm } from './http/form.ts';
import { readBody } from './http/read-body.ts';
import { renderFailure } from './http/render-failure.ts';
import { dispatch } from './http/reply.ts';
import { route } from './http/routes.ts';
import { handlers } from './operations/registry.ts';

/** The way of a request, in order. `contract` is the OpenAPI bundle. */
export function createApp(gateway: Gateway, contract: object): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(startCall(gateway));
  app.use(cors);
  app.use(route);
  app.use(authenticate(gateway));
  app.use(limitRate(gateway.rateLimit));
  app.use(requireRole);
  const bodyMb = () => gateway.settings.limits.bodyMb;
  app.use(readBody(bodyMb));
  app.use(readForm(contract, bodyMb));
  app.use(contractValidator(contract));
  app.use(dispatch(gateway, handlers));
  app.use(renderFailure(gateway.logger));
  return app;
}
