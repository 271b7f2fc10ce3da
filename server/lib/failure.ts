import type { CodesByFamily, ErrorCode, StatusesByCode } from '../../generated/errors.ts';

interface Options {
  /** Seconds to wait before a repeat; only on 429 and 503. */
  retryAfter?: number | undefined;
  /** On 416: how long the file is, as the header of that name tells it. */
  contentRange?: string | undefined;
  /** For the log alone. */
  cause?: unknown;
}

/**
 * A failure that the caller sees: HTTP status, a code of openapi/errors.yaml and a sentence. Every layer may throw it;
 * the transport renders it in the error family of the operation.
 */
export class Failure<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'Failure';
  readonly status: StatusesByCode[Code];
  /** One of `Code`, or a provider's own where it is a `ProviderFailure`. */
  readonly code: string;
  /** Seconds to wait before a repeat; only on 429 and 503. */
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

/** A refusal in a provider's words, after the filter of `ProviderWords`; the code, too, is the provider's if it gave one. */
export class ProviderFailure extends Failure {
  constructor(status: Failure['status'], code: string, message: string, options?: Options) {
    // No list holds the codes of providers.
    super(status, code as ErrorCode, message, options);
  }
}

/** A provider's error body, in the form of its native routes. */
export interface NativeErrorBody {
  code: string;
  message: string;
  request_id: string | undefined;
}

/** A failure of the provider itself (5xx). Native routes show its own error body, other routes only our words. */
export class ProviderOutage extends Failure {
  /** Masked for clients. Undefined when the provider sent none that a client may read. */
  readonly reported: NativeErrorBody | undefined;

  constructor({ status, code, message, retryAfter }: Failure, reported: NativeErrorBody | undefined) {
    super(status, code as ErrorCode, message, { retryAfter });
    this.reported = reported;
  }
}

type CodeOf400 = { [Code in ErrorCode]: 400 extends StatusesByCode[Code] ? Code : never }[ErrorCode];

/** 400 that names the field and what is wrong with it. */
export function invalid(field: string, problem: string, code: CodeOf400 = 'invalid_request'): Failure {
  return new Failure(400, code, `${field}: ${problem}`);
}

/** Builds a 503 for a resource that only one channel has, while that channel is not available. */
export function channelUnavailable(message: string): Failure {
  return new Failure(503, 'get_channel_failed', message, { retryAfter: 60 });
}

/** 503 for a model that this key may use, while no channel has it. */
export function notServed(model: string): Failure {
  return new Failure(503, 'model_not_found', `No channel serves ${model} to this key.`, { retryAfter: 60 });
}

/** Why a task or an asset has failed, in a code of ours. */
export interface TaskError {
  readonly code: CodesByFamily['task'];
  readonly message: string;
}
