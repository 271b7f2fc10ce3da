import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';

/**
 * How requests to a channel fail. The first five start a cool-down when they repeat, and `key_refused` at once.
 * `forbidden` is a refusal that the request may have caused: it starts one when several users are refused.
 */
export const failureKinds = [
  'unreachable',
  'timeout',
  'disconnected',
  'server_error',
  'invalid_response',
  'throttled',
  'key_refused',
  'forbidden',
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

/**
 * Undefined for a success and for an error that the request itself caused. A 401 or 402 concerns the account unless its
 * `code` names the input. A 403 does so only if the code names the account, because moderation and forbidden files also
 * cause one.
 */
export function failureKindOfStatus(status: number, code = ''): FailureKind | undefined {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'throttled';
  if (!isRefusal(status)) return undefined;
  if (isAccountError(code)) return 'key_refused';
  return status === 403 || isClientError(code) ? 'forbidden' : 'key_refused';
}

/** Whether the provider refused the account, or a request that it does not allow. */
export function isRefusal(status: number): boolean {
  return [401, 402, 403].includes(status);
}

/** Whether an error code concerns the gateway's account, which clients must not see. */
export function isAccountError(code: string): boolean {
  return /^(invalid_?api_?key|access_?denied|unauthorized|authentication|permission|account_?overdue|arrearage|billing|insufficient_?(user_)?quota)/i.test(
    code,
  );
}

/** Whether an error code means that the client's text or a parameter is the cause. */
export function isClientError(code: string): boolean {
  return /^(invalid|bad_?request|data_?inspection|unsupported|empty)/i.test(code);
}

/** Whether the gateway follows a `retry-after` header of a response with this status. */
export function allowsRetryAfter(status: number): boolean {
  return status === 429 || isUnavailable(status);
}

/** Whether a response with this status proves that the provider did not begin the work. */
export function wasRejectedBeforeWork(status: number): boolean {
  return isRefusal(status) || status === 429 || isUnavailable(status);
}

/** Whether the provider's service is unavailable. Providers of messages use 529 for it. */
export function isUnavailable(status: number): boolean {
  return status === 503 || status === 529;
}
