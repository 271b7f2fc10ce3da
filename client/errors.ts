import type { RealtimeErrorDetails } from '../generated/events.ts';
import type { components } from '../generated/http.ts';
import { headerRequestId } from './request-id.ts';

type Schemas = components['schemas'];

/** Base class of the errors of this package. */
export class UnigateError extends Error {
  /** Id of the task that a wait or download concerns. It can be retrieved again. */
  declare taskId?: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A response with an error status. */
export interface ErrorResponse {
  /** HTTP status. For an error during a stream, the status in the stream. */
  status: number;
  headers: Headers;
  /** The parsed body, or its text if it is not JSON. */
  body: unknown;
}

/** The gateway or its provider returned an error. */
export class APIError extends UnigateError {
  readonly status: number;
  /** Stable error code, for example `model_not_found`. Management errors have none. */
  readonly code: string | undefined;
  /** Path of the invalid field. Undefined if the error concerns no field, and for families without it. */
  readonly param: string | undefined;
  /** The gateway's id of the failed request. */
  readonly requestId: string | undefined;
  readonly headers: Headers;
  readonly body: unknown;

  constructor({ status, headers, body }: ErrorResponse) {
    const { code, message, param, requestId } = readErrorBody(body);
    super(message ?? `The gateway returned status ${status}.`);
    this.status = status;
    this.code = code;
    this.param = param;
    // The body of a provider error contains the provider's id. The header is always the gateway's.
    this.requestId = headerRequestId(headers) ?? requestId;
    this.headers = headers;
    this.body = body;
  }

  /** Creates an error of the class for the status. */
  static of(response: ErrorResponse): APIError {
    const Class = errorClasses[response.status] ?? (response.status >= 500 ? InternalServerError : APIError);
    return new Class(response);
  }
}

/** 400: the request is invalid. The message names the field and the limit. */
export class BadRequestError extends APIError {}
/** 401: the key is missing, wrong or revoked. */
export class AuthenticationError extends APIError {}
/** 403: the group or the key does not allow this, or the quota is exhausted. */
export class PermissionDeniedError extends APIError {}
/** 404: the model, task, voice or path does not exist. */
export class NotFoundError extends APIError {}
/** 409: the state of the resource does not allow this. */
export class ConflictError extends APIError {}
/** 413: the body is too large. */
export class PayloadTooLargeError extends APIError {}
/** 415: the operation does not support this content type. */
export class UnsupportedMediaTypeError extends APIError {}
/** 422: the request is valid but cannot be processed. */
export class UnprocessableEntityError extends APIError {}
/** 429: too many requests. `headers` may contain `retry-after`. */
export class RateLimitError extends APIError {}
/** 500 and above: the server failed. */
export class InternalServerError extends APIError {}
/** 501: this gateway does not implement the operation. */
export class NotImplementedError extends InternalServerError {}
/** 502: the provider failed or rejected the gateway. */
export class BadGatewayError extends InternalServerError {}
/** 503: no channel can serve the request now. */
export class ServiceUnavailableError extends InternalServerError {}
/** 504: the provider timed out. */
export class GatewayTimeoutError extends InternalServerError {}

/** The gateway cannot be reached, or the connection failed. */
export class ConnectionError extends UnigateError {}
/** The `timeout` of the call expired. */
export class TimeoutError extends ConnectionError {}
/** The socket closed early. The contract lists the close codes; 1006 means a lost connection. */
export class SocketClosedError extends ConnectionError {
  readonly closeCode: number;
  readonly reason: string;

  constructor(closeCode: number, reason: string) {
    super(
      closeCode === 1006
        ? 'The connection of the socket was lost.'
        : `The gateway closed the socket with ${closeCode}${reason ? ` (${reason})` : ''}.`,
    );
    this.closeCode = closeCode;
    this.reason = reason;
  }
}
/** The `signal` of the caller aborted the call. */
export class AbortError extends UnigateError {}

/** An `error` event of a realtime session. */
export class RealtimeError extends UnigateError {
  /** Type of the error, for example `invalid_request_error`. */
  readonly type: string | undefined;
  /** Stable error code, for example `invalid_value`. */
  readonly code: string | undefined;
  /** Path of the invalid field. */
  readonly param: string | undefined;
  /** Id of the client event that caused the error. */
  readonly eventId: string | undefined;
  /** The gateway's id of the handshake. */
  readonly requestId: string | undefined;

  constructor({ type, code, message, param, event_id }: RealtimeErrorDetails, requestId?: string) {
    super(message);
    this.type = type ?? undefined;
    this.code = code ?? undefined;
    this.param = param ?? undefined;
    this.eventId = event_id ?? undefined;
    this.requestId = requestId;
  }
}

/** A task of any kind. */
export type EndedTask =
  | Schemas['VideoTask']
  | Schemas['FamilyRecord']
  | Schemas['NativeTask']
  | Schemas['OfficialTask']
  | Schemas['MusicTask']
  | Schemas['LyricsTask']
  | Schemas['ImageJob']
  | Schemas['Asset']
  | Schemas['VoiceDetailsReply']['output'];

export interface TaskFailure {
  code: string;
  message: string;
  taskId: string;
  requestId?: string;
  task?: EndedTask;
}

/** A task failed, was canceled or expired. */
export class TaskFailedError extends UnigateError {
  /** Stable error code, for example `InvalidParameter`. */
  readonly code: string;
  override readonly taskId: string;
  /** The gateway's id of the request that returned the failure, or of the handshake for tasks on a socket. */
  readonly requestId: string | undefined;
  /** The last state of the task. Undefined for tasks on a socket. */
  readonly task: EndedTask | undefined;

  constructor({ code, message, taskId, requestId, task }: TaskFailure) {
    super(message);
    this.code = code;
    this.taskId = taskId;
    this.requestId = requestId;
    this.task = task;
  }
}

const errorClasses: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  422: UnprocessableEntityError,
  429: RateLimitError,
  501: NotImplementedError,
  502: BadGatewayError,
  503: ServiceUnavailableError,
  504: GatewayTimeoutError,
};

/** The common fields of the error families. */
interface ErrorFields {
  code: string | undefined;
  message: string | undefined;
  param: string | undefined;
  requestId: string | undefined;
}

const maxMessageLength = 500;

/**
 * Parses the body of every error family:
 * generic `{error: {code, message, param?, request_id}}`, messages `{type: 'error', error: {type, …}, request_id}`,
 * native `{code, message, request_id}` and management `{success: false, message}`. A body that is not JSON, such as the
 * page of a proxy, becomes the message, truncated to 500 characters.
 */
function readErrorBody(body: unknown): ErrorFields {
  if (typeof body === 'string') {
    const text = body.trim();
    return {
      code: undefined,
      message: text ? text.slice(0, maxMessageLength) : undefined,
      param: undefined,
      requestId: undefined,
    };
  }
  const outer = record(body);
  const inner = 'error' in outer && typeof outer.error === 'object' ? record(outer.error) : outer;
  return {
    code: textOf(inner.code) ?? textOf(inner === outer ? undefined : inner.type),
    message: textOf(inner.message) ?? textOf(outer.error),
    param: textOf(inner.param),
    requestId: textOf(inner.request_id) ?? textOf(outer.request_id),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
