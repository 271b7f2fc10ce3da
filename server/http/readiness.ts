import type { NextFunction, Request, Response } from 'express';
import { Failure } from '../lib/failure.ts';
import type { Gateway } from './gateway.ts';
import type { Operation } from './routes.ts';

/** 503 while the gateway stops. */
export function gatewayStopping(): Failure {
  return new Failure(503, 'draining', 'This gateway is shutting down.', { retryAfter: 1 });
}

/** Areas of the contract whose reads use the database only. */
const managementAreas = new Set(['admin', 'logs', 'me', 'models', 'tokens']);

/** 503 for work in maintenance mode. Only an operator ends that mode, so clients retry rarely. */
export function inMaintenance(): Failure {
  const message = 'This gateway is in maintenance mode: it answers reads of the management operations only.';
  return new Failure(503, 'maintenance', message, { retryAfter: 60 });
}

/** Refuses requests in maintenance mode, except reads that need no provider, and the end of that mode. */
export function refuseInMaintenance(gateway: Pick<Gateway, 'maintenance'>) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { operation } = request.context;
    if (gateway.maintenance && operation !== undefined && !isAllowedInMaintenance(operation))
      throw inMaintenance();
    next();
  };
}

function isAllowedInMaintenance({ id, method, area, security }: Operation): boolean {
  if (id === 'releaseGateway') return true;
  return method === 'get' && (security === 'none' || managementAreas.has(area));
}

/**
 * Requires that the store accepts reads, writes and settlements, and that the process is neither shutting down
 * nor in maintenance mode.
 *
 * @throws Failure 503
 */
export async function requireReady({
  leaving,
  draining,
  maintenance,
  callQuota,
}: Pick<Gateway, 'leaving' | 'draining' | 'maintenance' | 'callQuota'>): Promise<void> {
  if (leaving || draining) throw gatewayStopping();
  if (maintenance) throw inMaintenance();
  await callQuota.check();
}
