/** A refusal in the vendors' flat form: `{code, message, request_id}` with its HTTP status. */
export class NativeError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  body(requestId: string): { code: string; message: string; request_id: string } {
    return { code: this.code, message: this.message, request_id: requestId };
  }
}

export function invalidParameter(message: string): NativeError {
  return new NativeError(400, 'InvalidParameter', message);
}

export function internalError(message = 'The request failed inside the service'): NativeError {
  return new NativeError(500, 'InternalError', message);
}
