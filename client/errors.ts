import type { RealtimeErrorDetails } from '../generated/events.ts';
import type { components } from '../generated/http.ts';

type Schemas = components['schemas'];

/** Every error that this package throws on purpose. */
export class UnigateError extends Error {
  /** The task that was being waited for or fetched; it can be asked for again. */
  declare taskId?: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** What an answer with an error status said. */
export interface APIErrorFacts {
  /** HTTP status. For an error in the middle of a stream, the status that the stream names. */
  status: number;
  headers: Headers;
  /** The body, parsed where it is JSON, otherwise its text. */
  body: unknown;
}

/** The gateway or the provider behind it answered with an error. */
export class APIError extends UnigateError {
  readonly status: number;
  /** A stable word for programs, for example `model_not_found`; management errors have none. */
  readonly code: string | undefined;
  /** The gateway's id of the failed request. */
  readonly requestId: string | undefined;
  readonly headers: Headers;
  readonly body: unknown;

  constructor({ status, headers, body }: APIErrorFacts) {
    const { code, message, requestId } = readErrorBody(body);
    super(message ?? `The gateway answered with status ${status}.`);
    this.status = status;
    this.code = code;
    // A provider's refusal carries the provider's id in its body; the header is always the gateway's own.
    this.requestId = requestIdOf(headers) ?? requestId;
    this.headers = headers;
    this.body = body;
  }

  /** The error of the class that belongs to the status. */
  static of(facts: APIErrorFacts): APIError {
    const Class = errorClasses[facts.status] ?? (facts.status >= 500 ? InternalServerError : APIError);
    return new Class(facts);
  }
}

/** 400: the request breaks a rule; the message names the field and the limit. */
export class BadRequestError extends APIError {}
/** 401: the key is missing, wrong or revoked. */
export class AuthenticationError extends APIError {}
/** 403: the key's group or the key itself does not allow this, or its quota is used up. */
export class PermissionDeniedError extends APIError {}
/** 404: no such model, task, voice or path. */
export class NotFoundError extends APIError {}
/** 409: the thing is in a state that does not allow this now. */
export class ConflictError extends APIError {}
/** 413: the body is larger than the gateway takes. */
export class PayloadTooLargeError extends APIError {}
/** 415: the gateway does not read this content type here. */
export class UnsupportedMediaTypeError extends APIError {}
/** 422: the request was understood and cannot be carried out. */
export class UnprocessableEntityError extends APIError {}
/** 429: too many requests; `headers` may have `retry-after`. */
export class RateLimitError extends APIError {}
/** 500 and above. */
export class InternalServerError extends APIError {}
/** 501: the operation is in the contract and not in this gateway. */
export class NotImplementedError extends InternalServerError {}
/** 502: the provider failed or refused the gateway. */
export class BadGatewayError extends InternalServerError {}
/** 503: nothing can serve the request now. */
export class ServiceUnavailableError extends InternalServerError {}
/** 504: the provider took too long. */
export class GatewayTimeoutError extends InternalServerError {}

/** No answer, or it broke off: the gateway cannot be reached or closed the connection. */
export class ConnectionError extends UnigateError {}
/** The `timeout` of the call is over. */
export class TimeoutError extends ConnectionError {}
/** A socket was closed before its conversation was over. The contract lists the codes; 1006 is a broken connection. */
export class SocketClosedError extends ConnectionError {
  readonly closeCode: number;
  readonly reason: string;

  constructor(closeCode: number, reason: string) {
    super(
      closeCode === 1006
        ? 'The connection of the socket broke.'
        : `The gateway closed the socket with ${closeCode}${reason ? ` (${reason})` : ''}.`,
    );
    this.closeCode = closeCode;
    this.reason = reason;
  }
}
/** The caller's `signal` stopped the call. */
export class AbortError extends UnigateError {}

/** An `error` event of a realtime session. */
export class RealtimeError extends UnigateError {
  /** The class of the error, for example `invalid_request_error`. */
  readonly type: string | undefined;
  /** A stable word for programs, for example `invalid_value`. */
  readonly code: string | undefined;
  /** Path of the field that was refused. */
  readonly param: string | undefined;
  /** The event of this client that caused it. */
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

/** A task of any kind, as the gateway shows it. */
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

/** A task has failed, was canceled or has expired. */
export class TaskFailedError extends UnigateError {
  /** A stable word for programs, for example `InvalidParameter`. */
  readonly code: string;
  override readonly taskId: string;
  /** The gateway's id of the request that showed it; of a socket's task, of the handshake. */
  readonly requestId: string | undefined;
  /** The task as it was last shown; tasks on a socket are not shown. */
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

/** The gateway's id of a request, from the headers of its answer. */
export function requestIdOf(headers: Headers): string | undefined {
  return headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
}

/** What the error families have in common; a field that the body lacks is undefined. */
interface ErrorFacts {
  code: string | undefined;
  message: string | undefined;
  requestId: string | undefined;
}

const maxMessageCharacters = 500;

/**
 * Reads the body of every error family:
 * generic `{error: {code, message, request_id}}`, messages `{type: 'error', error: {type, …}, request_id}`,
 * native `{code, message, request_id}` and management `{success: false, message}`. A body that is not JSON, such as
 * a proxy's page, becomes the message, cut to 500 characters.
 */
function readErrorBody(body: unknown): ErrorFacts {
  if (typeof body === 'string') {
    const text = body.trim();
    return {
      code: undefined,
      message: text ? text.slice(0, maxMessageCharacters) : undefined,
      requestId: undefined,
    };
  }
  const outer = record(body);
  const inner = 'error' in outer && typeof outer.error === 'object' ? record(outer.error) : outer;
  return {
    code: word(inner.code) ?? word(inner === outer ? undefined : inner.type),
    message: word(inner.message) ?? word(outer.error),
    requestId: word(inner.request_id) ?? word(outer.request_id),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function word(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
