import { type Exchange, type Handler, sendJson } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';

/** What the replies to a submission say by their code, all of them with HTTP 200. */
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
  /** Id of the task. */
  result?: string;
  properties?: object;
}

/** Thrown instead of a reply that has a task. */
export class SubmitRefusal extends Error {
  readonly reply: SubmitReply;

  constructor(code: SubmitReply['code'], description: string, properties?: object) {
    super(description);
    this.reply = { code, description, ...(properties && { properties }) };
  }
}

/** A refusal because of a field of the request, or of the state that its task is in. */
export function wrong(description: string): SubmitRefusal {
  return new SubmitRefusal(codes.wrong, description);
}

/** `{code, description, result, properties}`. */
export function showReply({ code, description, result = '', properties = {} }: SubmitReply): object {
  return { code, description, result, properties };
}

/** Gives the refusals of a submission their form: a code of the protocol, or else an HTTP status. */
export function inReply(handler: Handler): Handler {
  return async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      if (exchange.response.headersSent) throw error;
      if (error instanceof SubmitRefusal) sendJson(exchange, 200, showReply(error.reply));
      else if (error instanceof NativeError) refuse(exchange, error);
      else throw error;
    }
  };
}

function refuse(exchange: Exchange, error: NativeError): void {
  const { status, message: description } = error;
  if (status === 400) sendJson(exchange, 200, showReply({ code: codes.wrong, description }));
  else if (status === 500) sendJson(exchange, 200, showReply({ code: codes.failure, description }));
  else sendJson(exchange, status, { code: status, description }, { ...error.headers });
}
