import { isAccountError, isClientError, isRefusal, isUnavailable } from '../channels/failure-kinds.ts';
import { readRetryAfter } from '../channels/retry-after.ts';
import { Failure, type NativeErrorBody, ProviderFailure, ProviderOutage } from '../lib/failure.ts';
import { field, parseJson, textField } from '../lib/json.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import type { ProviderRedactor } from './provider-redactor.ts';

const maxBytes = 64 * 1024;
const maxCodeLength = 200;
export const defaultRejection = 'The provider rejected the request.';

export interface Rejection {
  status: number;
  /** The original body for native routes, redacted by `redactNativeJson`. */
  body: Buffer;
  code: string | undefined;
  message: string | undefined;
  /** Seconds. */
  retryAfter: number | undefined;
}

/** Reads and redacts a rejection. @throws ProviderOutage for a status of 500 or more, Failure 502 about our account */
export async function readRejection(
  { status, headers, body }: HttpResponse,
  redactor: ProviderRedactor,
): Promise<Rejection> {
  if (isRefusal(status) || status < 400) {
    await body.dump();
    throw providerFailure(status, readRetryAfter(headers));
  }
  if (status >= 500) {
    // Ignores a body that breaks off.
    const reported = await readUpTo(body, maxBytes).then(
      (bytes) => parseNativeError(redactor.redactNativeJson(bytes)),
      () => undefined,
    );
    throw new ProviderOutage(providerFailure(status, readRetryAfter(headers)), reported);
  }
  const bytes = await readUpTo(body, maxBytes);
  const { code, type, message } = parseError(redactor.redactJson(bytes));
  if (isAccountError(code ?? type ?? '')) throw providerFailure(502);
  const retryAfter = readRetryAfter(headers);
  return { status, body: redactor.redactNativeJson(bytes), code, message, retryAfter };
}

/** Parses the error body of a provider's own failure. Undefined without one, or if it concerns the gateway's account. */
function parseNativeError(bytes: Buffer): NativeErrorBody | undefined {
  const { code, message, requestId } = parseError(bytes);
  if (code === undefined || message === undefined || isAccountError(code)) return undefined;
  return { code, message, request_id: requestId };
}

export function rejectionFailure({ status, code, message, retryAfter }: Rejection): Failure {
  if (status === 429) return throttledFailure(retryAfter);
  const reported = ([404, 413, 415] as const).find((one) => one === status) ?? 400;
  return new ProviderFailure(reported, code ?? 'bad_request', message ?? defaultRejection);
}

export function throttledFailure(retryAfter = 1): Failure {
  return new Failure(429, 'rate_limit_exceeded', 'The provider takes no more requests now.', { retryAfter });
}

/** Builds the failure for a provider's own error, without its message. `retryAfter` is in seconds. */
export function providerFailure(status: number, retryAfter = 1): Failure {
  if (isUnavailable(status))
    return new Failure(503, 'get_channel_failed', 'The provider is not available now.', { retryAfter });
  if (status === 504) return new Failure(504, 'upstream_timeout', 'The provider did not answer in time.');
  return new Failure(502, 'bad_response_status_code', 'The provider failed to handle the request.');
}

export function failureFromCode(code: unknown, message: unknown, redactor: ProviderRedactor): Failure {
  const name = typeof code === 'string' ? redactor.redactCode(code) : '';
  if (isThrottling(name)) return throttledFailure();
  if (isAccountError(name) || !isClientError(name)) return providerFailure(502);
  const text = typeof message === 'string' && message !== '' ? redactor.redact(message) : defaultRejection;
  return new ProviderFailure(400, name, text);
}

/** Status codes of beta models about our account, and about the provider itself. */
const accountCodes = new Set<unknown>([1004, 1008, 2038, 2049]);
const providerCodes = new Set<unknown>([1000, 1001, 1013]);

/** Cause of an error that a beta model reports with HTTP 200. Undefined for the client's error or none. */
export function betaErrorSource(output: unknown): 'account' | 'provider' | undefined {
  const code = field(field(output, 'base_resp'), 'status_code');
  return accountCodes.has(code) ? 'account' : providerCodes.has(code) ? 'provider' : undefined;
}

/** Reads an error that a beta model reports with HTTP 200. Undefined for a success. */
export function betaFailure(output: unknown, redactor: ProviderRedactor): Failure | undefined {
  const response = field(output, 'base_resp');
  const code = field(response, 'status_code');
  if (typeof code !== 'number' || code === 0) return undefined;
  if (code === 1002 || code === 1039) return throttledFailure();
  if (code !== 1042 && code !== 2013) return providerFailure(code === 1001 ? 504 : 502);
  const message = redactor.redact(textField(response, 'status_msg') ?? defaultRejection);
  return new ProviderFailure(400, 'InvalidParameter', message);
}

export async function readUpTo(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** Reads the fields of an error body, at the top or under `error`. */
export function parseError(bytes: Buffer) {
  const parsed = parseJson(bytes);
  const error = field(parsed, 'error') ?? parsed;
  // The ledger also stores the code, and does not accept control characters.
  const code = textField(error, 'code')?.replaceAll(/\p{Cc}/gu, '');
  return {
    code: code?.slice(0, maxCodeLength),
    type: textField(error, 'type'),
    message: textField(error, 'message'),
    requestId: textField(error, 'request_id') ?? textField(parsed, 'request_id'),
  };
}

export function isThrottling(code: string): boolean {
  return /^(throttling|rate_?limit|too_?many)/i.test(code);
}
