import { authenticate, limitRate, requireAdmin } from '../http/authenticate.ts';
import { BodyBudget, reserveBody } from '../http/body-budget.ts';
import type { BodyParser } from '../http/body-parser.ts';
import { startCall } from '../http/call.ts';
import { contractValidator } from '../http/contract.ts';
import { cors } from '../http/cors.ts';
import { readForm } from '../http/form.ts';
import type { Gateway } from '../http/gateway.ts';
import { inOrder } from '../http/in-order.ts';
import { type Listener, listener } from '../http/listener.ts';
import { readBody } from '../http/read-body.ts';
import { renderFailure } from '../http/render-failure.ts';
import { dispatch } from '../http/reply.ts';
import { route } from '../http/routes.ts';
import { handlers } from '../operations/registry.ts';
import { bodyMbPerKey } from '../settings/settings.ts';

/** The steps of a request, in order. `contract`: the OpenAPI bundle; `parser`: of large bodies, which the caller closes. */
export function createApp(gateway: Gateway, contract: object, parser: BodyParser): Listener {
  const maxMb = () => gateway.settings.limits.bodyMb;
  const bodies = { maxMb, parser };
  const budget = new BodyBudget({ maxMb: () => bodyMbPerKey(gateway.settings), timers: gateway.timers });
  const steps = [
    startCall(gateway),
    cors,
    route,
    authenticate(gateway),
    limitRate(gateway.rateLimit),
    requireAdmin,
    reserveBody(budget, maxMb),
    readBody(bodies),
    readForm(contract, bodies),
    contractValidator(contract),
    dispatch(gateway, handlers),
  ];
  return listener(inOrder(steps, renderFailure(gateway.logger)));
}
