import { type Exchange, type Handler, sendJson, sendText } from '../http/exchange.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { dropConnection, throttled } from '../refusals.ts';
import type { Triggers } from '../triggers.ts';

/** Room for the largest request with Base64 images in it. */
export const maxBodyBytes = 64 * 1024 * 1024;
export const hour = 60 * 60 * 1000;

type Envelope = (error: NativeError, requestId: string) => object;

/** Gives the refusals of a handler the form of another protocol than the native one. */
export function inEnvelope(envelope: Envelope, handler: Handler): Handler {
  return async (exchange) => {
    try {
      await handler(exchange);
    } catch (error) {
      if (!(error instanceof NativeError) || exchange.response.headersSent) throw error;
      sendJson(exchange, error.status, envelope(error, exchange.requestId), { ...error.headers });
    }
  };
}

/** Answers a create request whose task exists, or fails to, as its triggers say. */
export async function answerCreate(exchange: Exchange, triggers: Triggers, body: object): Promise<void> {
  if (triggers.has('drop')) return await dropConnection(exchange);
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  sendJson(exchange, 200, body);
}

/** Does to the first poll what the triggers say; true when that was the answer. Counts the polls. */
export async function troublePoll(
  exchange: Exchange,
  task: { polls: number; triggers: Triggers },
): Promise<boolean> {
  if (++task.polls > 1) return false;
  if (task.triggers.has('poll-error')) throw internalError();
  if (task.triggers.has('poll-throttle')) throw throttled();
  if (task.triggers.has('poll-drop')) await dropConnection(exchange);
  else if (task.triggers.has('poll-malformed')) sendText(exchange, 200, brokenJson);
  else return false;
  return true;
}

const brokenJson = '{"id":"';

/** The last part of the path; one that is not well encoded is nobody's id. */
export function idOf({ url }: Exchange): string {
  try {
    return decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
  } catch {
    return '';
  }
}
