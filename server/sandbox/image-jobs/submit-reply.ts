import { type Exchange, type Handler, sendJson } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';

/** Codes of the responses to a submission, all with HTTP 200. */
export const codes = {
  accepted: 1,
  notFound: 3,
  wrong: 4,
  failure: 9,
  modal: 21,
  queued: 22,
  full: 23,
  banned: 24,
} as const;

export interface SubmitReply {
  code: (typeof codes)[keyof typeof codes];
  description: string;
  /** Task id. */
  result?: string;
  properties?: object;
}

/** Thrown if a submission is rejected with a code of the protocol. */
export class SubmitError extends Error {
  readonly reply: SubmitReply;

  constructor(code: SubmitReply['code'], description: string, properties?: object) {
    super(description);
    this.reply = { code, description, ...(properties && { properties }) };
  }
}

/** Creates the error for an invalid field, or for a task in the wrong state. */
export function createInvalidError(description: string): SubmitError {
  return new SubmitError(codes.wrong, description);
}

/** Formats a response as `{code, description, result, properties}`. */
export function formatReply({ code, description, result = '', properties = {} }: SubmitReply): object {
  return { code, description, result, properties };
}

/** Wraps a request handler so that it returns errors with a code of the protocol or with an HTTP status. */
export function withSubmitErrors(handler: Handler): Handler {
  return async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      if (exchange.response.headersSent) throw error;
      if (error instanceof SubmitError) sendJson(exchange, 200, formatReply(error.reply));
      else if (error instanceof NativeError) sendError(exchange, error);
      else throw error;
    }
  };
}

function sendError(exchange: Exchange, error: NativeError): void {
  const { status, message: description } = error;
  if (status === 400) sendJson(exchange, 200, formatReply({ code: codes.wrong, description }));
  else if (status === 500) sendJson(exchange, 200, formatReply({ code: codes.failure, description }));
  else sendJson(exchange, status, { code: status, description }, { ...error.headers });
}
