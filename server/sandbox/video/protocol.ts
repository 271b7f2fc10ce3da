import { setImmediate } from 'node:timers/promises';
import { type Exchange, type Handler, sendJson, sendText } from '../http/exchange.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { Assets } from './assets/assets.ts';
import type { MediaLoader } from './media-loader.ts';
import type { ResultFiles } from './results.ts';
import type { TriggerName, Triggers } from './triggers.ts';

/** What the video, 3D and asset routes share. */
export interface VideoServices {
  engine: MediaEngine;
  results: ResultFiles;
  media: MediaLoader;
  assets: Assets;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that a task takes. */
  taskTime: number;
}

/** Room for the largest request with Base64 images in it. */
export const largestBody = 64 * 1024 * 1024;
export const hour = 60 * 60 * 1000;

export type Envelope = (error: NativeError, requestId: string) => object;

/** Tells the refusals of a handler in the form of another protocol than the native one. */
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

/** What refuses a request on purpose, with the native codes; of several the first wins. */
const refusals: readonly [TriggerName, () => NativeError][] = [
  ['reject', () => new NativeError(400, 'DataInspectionFailed', 'The input may contain unsuitable content')],
  ['unauthorized', () => new NativeError(401, 'InvalidApiKey', 'The API key is not valid')],
  ['denied', () => new NativeError(403, 'AccessDenied', 'The account may not use this model')],
  ['throttle', throttled],
  ['error', () => internalError()],
  ['unavailable', () => new NativeError(503, 'ModelUnavailable', 'The model is not available at the moment')],
];

/** Refuses a create request or keeps it waiting, as its triggers say. */
export async function obeyTriggers({ signal }: Exchange, triggers: Triggers): Promise<void> {
  const refusal = refusals.find(([name]) => triggers.has(name));
  if (refusal) throw refusal[1]();
  if (triggers.has('hang'))
    await new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
}

/** Answers a create request whose task exists, or fails to, as its triggers say. */
export async function answerCreate(exchange: Exchange, triggers: Triggers, body: object): Promise<void> {
  if (triggers.has('drop')) return await breakConnection(exchange);
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
  if (task.triggers.has('poll-drop')) await breakConnection(exchange);
  else if (task.triggers.has('poll-malformed')) sendText(exchange, 200, brokenJson);
  else return false;
  return true;
}

const brokenJson = '{"id":"';

function throttled(): NativeError {
  return new NativeError(429, 'Throttling.RateQuota', 'Too many requests', { 'retry-after': '1' });
}

async function breakConnection({ response }: Exchange): Promise<void> {
  await setImmediate();
  response.destroy();
}

/** The last part of the path. */
export function idOf({ url }: Exchange): string {
  return decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
}
