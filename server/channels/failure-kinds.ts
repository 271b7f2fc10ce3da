import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';

/** How requests to a channel fail. Only the first five count against the channel's health. */
export const failureKinds = [
  'unreachable',
  'timeout',
  'disconnected',
  'server_error',
  'invalid_response',
  'throttled',
  'key_refused',
  'busy',
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** Error codes of a connection that was never made: the request cannot have arrived. */
const connectErrorCodes = new Set([
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

const timeoutCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Whether an error proves that the request never reached the upstream. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof BusyError) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return (
    syscall === 'connect' || syscall === 'getaddrinfo' || (code !== undefined && connectErrorCodes.has(code))
  );
}

export function failureKindOf(error: unknown): FailureKind {
  if (error instanceof BusyError) return 'busy';
  if (wasNeverSent(error)) return 'unreachable';
  if (error instanceof Failure) return error.status === 504 ? 'timeout' : 'invalid_response';
  if (!(error instanceof Error)) return 'disconnected';
  if (error.name === 'TimeoutError' || timeoutCodes.has((error as NodeJS.ErrnoException).code ?? ''))
    return 'timeout';
  return 'disconnected';
}

/** Undefined for a success and for an error that the request itself caused. */
export function failureKindOfStatus(status: number): FailureKind | undefined {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'throttled';
  return [401, 402, 403].includes(status) ? 'key_refused' : undefined;
}

/** Whether the gateway follows a `retry-after` header of a response with this status. */
export function allowsRetryAfter(status: number): boolean {
  return status === 429 || isUnavailable(status);
}

/** Whether a response with this status proves that the provider did not begin the work. */
export function wasRejectedBeforeWork(status: number): boolean {
  return [401, 402, 403, 429].includes(status) || isUnavailable(status);
}

/** Whether the provider's service is unavailable. Providers of messages use 529 for it. */
export function isUnavailable(status: number): boolean {
  return status === 503 || status === 529;
}
