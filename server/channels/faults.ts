import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';
import type { FailureKind } from './figures.ts';

/** Errors of a connection that was never made: the request cannot have arrived. */
const neverMade = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const tooLate = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Whether what was thrown on the way to an upstream shows that nothing arrived there. */
export function neverSent(error: unknown): boolean {
  if (error instanceof BusyError) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo' || (code !== undefined && neverMade.has(code));
}

/** How a request failed when that was thrown on the way to its upstream. */
export function faultOf(error: unknown): FailureKind {
  if (error instanceof BusyError) return 'busy';
  if (neverSent(error)) return 'unreachable';
  if (error instanceof Failure) return error.status === 504 ? 'timeout' : 'bad_answer';
  if (!(error instanceof Error)) return 'broken_off';
  if (error.name === 'TimeoutError' || tooLate.has((error as NodeJS.ErrnoException).code ?? ''))
    return 'timeout';
  return 'broken_off';
}

/** How a request failed that an upstream answers with that status; undefined: it did not, or for the caller's own fault. */
export function faultIn(status: number): FailureKind | undefined {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'throttled';
  return [401, 402, 403].includes(status) ? 'key_refused' : undefined;
}

/** Whether the status may come with the time for which the provider asks to be left alone. */
export function mayAskToWait(status: number): boolean {
  return status === 429 || isAway(status);
}

/** Whether an upstream's status says that the work was not begun, so that another may be asked for it. */
export function refusedBeforeWork(status: number): boolean {
  return [401, 402, 403, 429].includes(status) || isAway(status);
}

/** Whether it says that the service is not there for now; 529 is how providers of messages say it. */
export function isAway(status: number): boolean {
  return status === 503 || status === 529;
}
