import { randomUUID } from 'node:crypto';
import type { CodesByFamily } from '../../../generated/errors.ts';
import type { RealtimeError } from '../../../generated/events.ts';
import type { Channel } from '../../channels/channel.ts';
import { isAccountError, isClientError } from '../../channels/failure-kinds.ts';
import { Failure } from '../../lib/failure.ts';
import { ProviderRedactor } from '../../providers/provider-redactor.ts';
import { isThrottling } from '../../providers/rejection.ts';
import { StoreUnavailable } from '../../store/availability.ts';
import type { JsonObject } from '../frames.ts';

/** An error that does not close the connection. */
export interface SessionProblem {
  code: Exclude<CodesByFamily['realtime'], FatalCode>;
  message: string;
  /** Path of the field. */
  param?: string | undefined;
}

/** The errors that close the connection: their type, close code and status in the log. */
export const fatalErrors = {
  invalid_api_key: { type: 'permission_error', close: 1008, status: 401 },
  access_denied: { type: 'permission_error', close: 1008, status: 403 },
  insufficient_user_quota: { type: 'permission_error', close: 1008, status: 403 },
  client_too_slow: { type: 'invalid_request_error', close: 1008, status: 408 },
  rate_limit_exceeded: { type: 'rate_limit_error', close: 1013, status: 429 },
  bad_response: { type: 'api_error', close: 1011, status: 502 },
  upstream_timeout: { type: 'api_error', close: 1011, status: 504 },
  service_restarting: { type: 'api_error', close: 1001, status: 503 },
  get_channel_failed: { type: 'api_error', close: 1013, status: 503 },
  store_unavailable: { type: 'api_error', close: 1013, status: 503 },
  internal_error: { type: 'api_error', close: 1011, status: 500 },
} as const satisfies Partial<Record<CodesByFamily['realtime'], object>>;

export type FatalCode = keyof typeof fatalErrors;

/** Creates an `error` event of the gateway. */
export function errorEvent(error: {
  type: string | null;
  code: string | null;
  message: string;
  param?: string | null | undefined;
  eventId?: string | null | undefined;
}): string {
  const { type, code, message, param = null, eventId = null } = error;
  const event: RealtimeError = {
    event_id: `event_${randomUUID().replaceAll('-', '')}`,
    type: 'error',
    error: { type, code, message, param, event_id: eventId },
  };
  return JSON.stringify(event);
}

/** Returns the fatal error for a failure, with its public message. */
export function fatalFrom(error: unknown): { code: FatalCode; message: string } {
  if (!(error instanceof Failure)) return { code: 'internal_error', message: 'The gateway failed.' };
  const { status, code, message } = error;
  if (error instanceof StoreUnavailable) return { code: 'store_unavailable', message };
  if (status === 401) return { code: 'invalid_api_key', message };
  if (status === 403) return { code: code === 'insufficient_user_quota' ? code : 'access_denied', message };
  // The model has lost its price since the handshake.
  if (status === 404) return { code: 'access_denied', message };
  if (status === 429) return { code: 'rate_limit_exceeded', message };
  if (status === 504) return { code: 'upstream_timeout', message };
  if (status === 503) return { code: 'get_channel_failed', message };
  return { code: status === 502 ? 'bad_response' : 'internal_error', message };
}

export const clientTooSlow = 'The client did not read its connection for too long.';
export const providerThrottled = 'The provider takes no more requests now.';
/** Characters of each text of a provider's error. */
const maxMessageLength = 500;
const providerFailed = 'The provider failed to handle the request.';

/** Returns the fatal error or the error event that the client receives for an `error` of the provider. */
export function readProviderError(
  error: JsonObject,
  channel: Channel | undefined,
): { fatal: FatalCode; message: string } | { event: string } {
  if (channel === undefined) return { fatal: 'bad_response', message: providerFailed };
  const redactor = new ProviderRedactor(channel);
  const text = (name: string) =>
    typeof error[name] === 'string' ? redactor.redact(error[name], maxMessageLength) : null;
  const code = text('code');
  const type = text('type');
  const name = code ?? '';
  if (isThrottling(name) || type === 'rate_limit_error')
    return { fatal: 'rate_limit_exceeded', message: providerThrottled };
  if (isAccountError(name)) return { fatal: 'bad_response', message: providerFailed };
  const isCausedByClient = type === 'invalid_request_error' || isClientError(name);
  const message = isCausedByClient ? text('message') || 'The provider rejected the event.' : providerFailed;
  return { event: errorEvent({ type, code, message, param: text('param'), eventId: text('event_id') }) };
}
