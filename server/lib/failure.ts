import type { CodesByFamily, ErrorCode, StatusesByCode } from '../../generated/errors.ts';

interface Options {
  /** Seconds to wait before a retry. Only on 429 and 503. */
  retryAfter?: number | undefined;
  /** The `content-range` header of a 416. */
  contentRange?: string | undefined;
  /** Only for the log. */
  cause?: unknown;
}

/**
 * A failure shown to the client, with a status, a code of openapi/errors.yaml and a sentence. Every layer may throw it.
 * The transport renders it in the error family of the operation.
 */
export class Failure<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'Failure';
  readonly status: StatusesByCode[Code];
  /** One of `Code`, or the code of a provider in a `ProviderFailure`. */
  readonly code: string;
  /** Seconds to wait before a retry. Only on 429 and 503. */
  readonly retryAfter: number | undefined;
  readonly contentRange: string | undefined;

  constructor(
    status: StatusesByCode[Code],
    code: Code,
    message: string,
    { retryAfter, contentRange, cause }: Options = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.contentRange = contentRange;
  }
}

/** No channel can serve the model now, and no provider was asked. A fallback of the model may serve the request. */
export class NoChannelFailure extends Failure {}

/** A rejection with the message and, if it has one, the code of the provider, both filtered by `ProviderWords`. */
export class ProviderFailure extends Failure {
  constructor(status: Failure['status'], code: string, message: string, options?: Options) {
    // Codes of providers are not declared in errors.yaml.
    super(status, code as ErrorCode, message, options);
  }
}

/** The error body of a provider, in the format of its native routes. */
export interface NativeErrorBody {
  code: string;
  message: string;
  request_id: string | undefined;
}

/** A failure of the provider itself (5xx). Native routes show its error body, other routes a message of the gateway. */
export class ProviderOutage extends Failure {
  /** Masked for clients. Undefined if the provider sent no body that a client may read. */
  readonly reported: NativeErrorBody | undefined;

  constructor({ status, code, message, retryAfter }: Failure, reported: NativeErrorBody | undefined) {
    super(status, code as ErrorCode, message, { retryAfter });
    this.reported = reported;
  }
}

type CodeOf400 = { [Code in ErrorCode]: 400 extends StatusesByCode[Code] ? Code : never }[ErrorCode];

/** Builds a 400 that names the field and the rule. */
export function invalid(field: string, problem: string, code: CodeOf400 = 'invalid_request'): Failure {
  return new Failure(400, code, `${field}: ${problem}`);
}

/** Builds a 403 for an action that the key may not perform. */
export function accessDenied(message: string): Failure {
  return new Failure(403, 'access_denied', message);
}

/** Builds a 404 for a resource that does not exist or that the caller does not see. */
export function notFound(field: string, problem: string): Failure {
  return new Failure(404, 'resource_not_found', `${field}: ${problem}`);
}

/** Builds a 503 for a resource that only one channel has, while that channel is not available. */
export function channelUnavailable(message: string): Failure {
  return new Failure(503, 'get_channel_failed', message, { retryAfter: 60 });
}

/** Builds a 503 for a model that this key may use, but no channel serves. */
export function notServed(model: string): Failure {
  return new NoChannelFailure(503, 'model_not_found', `No channel serves ${model} to this key.`, {
    retryAfter: 60,
  });
}

/** The reason why a task or an asset failed, with a code of the gateway. */
export interface TaskError {
  readonly code: CodesByFamily['task'];
  readonly message: string;
}
