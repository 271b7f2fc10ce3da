import type { Gateway } from '../../http/gateway.ts';
import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';

export const getReadiness: Handler<'getReadiness'> = async ({ gateway }, reply) => {
  await requireReady(gateway).catch(async (reason: unknown) => {
    // Workers share the port, so the machine is ready while any of them is.
    if (!(await gateway.siblings?.isAnyReady())) throw reason;
  });
  reply.json(200, { status: 'ok' });
};

/**
 * Ready while the store can read and write and takes what calls cost, and the process is not about to stop.
 *
 * @throws Failure 503
 */
export async function requireReady({
  leaving,
  draining,
  ledger,
}: Pick<Gateway, 'leaving' | 'draining' | 'ledger'>): Promise<void> {
  if (leaving || draining)
    throw new Failure(503, 'draining', 'This gateway is about to stop.', { retryAfter: 1 });
  await ledger.check();
}
