/** An error response in the providers' flat format: an HTTP status with `{code, message, request_id}`. */
export class NativeError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Full name of the invalid field, if there is one. */
  readonly field: string | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    field?: string,
  ) {
    super(message);
    this.field = field;
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  body(requestId: string): { code: string; message: string; request_id: string } {
    return { code: this.code, message: this.message, request_id: requestId };
  }
}

export function invalidParameter(message: string, field?: string): NativeError {
  return new NativeError(400, 'InvalidParameter', message, {}, field);
}

export function internalError(message = 'The request failed inside the service'): NativeError {
  return new NativeError(500, 'InternalError', message);
}
