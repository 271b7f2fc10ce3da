/**
 * A failure that the caller sees: HTTP status, a stable code and a sentence. Every layer may throw it;
 * the transport renders it in the error family of the operation.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: number;
  readonly code: string;
  /** Seconds to wait before a repeat; only on 429 and 503. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.retryAfter = options.retryAfter;
  }
}

/** 400 that names the field and what is wrong with it. */
export function invalid(field: string, problem: string, code = 'invalid_request'): Failure {
  return new Failure(400, code, `${field}: ${problem}`);
}
