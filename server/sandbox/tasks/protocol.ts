import { type Exchange, type Handler, sendJson, sendText } from '../http/exchange.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { dropConnection, throttlingError } from '../triggered-errors.ts';
import type { Triggers } from '../triggers.ts';

/** Large enough for requests with Base64 images. */
export const maxBodyBytes = 64 * 1024 * 1024;
export const hourMs = 60 * 60 * 1000;

type ErrorFormat = (error: NativeError, requestId: string) => object;

/** Wraps a request handler so that it returns errors in the format of another protocol. */
export function withErrorFormat(format: ErrorFormat, handler: Handler): Handler {
  return async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      if (!(error instanceof NativeError) || exchange.response.headersSent) throw error;
      sendJson(exchange, error.status, format(error, exchange.requestId), { ...error.headers });
    }
  };
}

/** Sends the response of a create request, or makes it fail as its triggers request. The task exists in both cases. */
export async function sendCreated(exchange: Exchange, triggers: Triggers, body: object): Promise<void> {
  if (triggers.has('drop')) return await dropConnection(exchange);
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  sendJson(exchange, 200, body);
}

/** Counts polls and applies the triggers of the first one. Returns true if a response was sent. */
export async function applyPollTriggers(
  exchange: Exchange,
  task: { polls: number; triggers: Triggers },
): Promise<boolean> {
  if (++task.polls > 1) return false;
  if (task.triggers.has('poll-error')) throw internalError();
  if (task.triggers.has('poll-throttle')) throw throttlingError();
  if (task.triggers.has('poll-drop')) await dropConnection(exchange);
  else if (task.triggers.has('poll-malformed')) sendText(exchange, 200, brokenJson);
  else return false;
  return true;
}

const brokenJson = '{"id":"';

/**
 * Returns the last path segment, decoded. Returns an empty string, which is no valid id, if the encoding is invalid.
 */
export function idFromPath({ url }: Exchange): string {
  try {
    return decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
  } catch {
    return '';
  }
}
