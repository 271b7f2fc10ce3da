import type { Gateway } from './gateway.ts';
import { authenticate, limitRate, requireAdmin } from './http/authenticate.ts';
import { startCall } from './http/call.ts';
import { contractValidator } from './http/contract.ts';
import { cors } from './http/cors.ts';
import { readForm } from './http/form.ts';
import { inOrder } from './http/in-order.ts';
import { type Listener, listener } from './http/listener.ts';
import { readBody } from './http/read-body.ts';
import { renderFailure } from './http/render-failure.ts';
import { dispatch } from './http/reply.ts';
import { route } from './http/routes.ts';
import { handlers } from './operations/registry.ts';

/** The way of a request, in order. `contract` is the OpenAPI bundle. */
export function createApp(gateway: Gateway, contract: object): Listener {
  const bodyMb = () => gateway.settings.limits.bodyMb;
  const steps = [
    startCall(gateway),
    cors,
    route,
    authenticate(gateway),
    limitRate(gateway.rateLimit),
    requireAdmin,
    readBody(bodyMb),
    readForm(contract, bodyMb),
    contractValidator(contract),
    dispatch(gateway, handlers),
  ];
  return listener(inOrder(steps, renderFailure(gateway.logger)));
}
