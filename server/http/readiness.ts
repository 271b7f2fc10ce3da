import { Failure } from '../lib/failure.ts';
import type { Gateway } from './gateway.ts';

/** 503 while the gateway stops. */
export function gatewayStopping(): Failure {
  return new Failure(503, 'draining', 'This gateway is shutting down.', { retryAfter: 1 });
}

/**
 * Requires that the store accepts reads, writes and settlements, and that the process is not shutting down.
 *
 * @throws Failure 503
 */
export async function requireReady({
  leaving,
  draining,
  callQuota,
}: Pick<Gateway, 'leaving' | 'draining' | 'callQuota'>): Promise<void> {
  if (leaving || draining) throw gatewayStopping();
  await callQuota.check();
}
