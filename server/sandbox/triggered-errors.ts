import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Exchange } from './http/exchange.ts';
import { internalError, NativeError } from './http/native-error.ts';
import { EngineMissing } from './speech/espeak.ts';
import { findTriggers, type TriggerName, type Triggers } from './triggers.ts';

const errors: readonly [TriggerName, () => NativeError][] = [
  [
    'reject',
    () => new NativeError(400, 'DataInspectionFailed', 'The input may contain inappropriate content'),
  ],
  ['unauthorized', () => new NativeError(401, 'InvalidApiKey', 'The API key is not valid')],
  ['denied', () => new NativeError(403, 'AccessDenied', 'The account may not use this model')],
  ['throttle', throttlingError],
  ['error', () => internalError()],
  ['unavailable', () => new NativeError(503, 'ModelUnavailable', 'The model is not available at the moment')],
];

export function throttlingError(): NativeError {
  return new NativeError(429, 'Throttling.RateQuota', 'Too many requests for this model', {
    'retry-after': '1',
  });
}

/** Returns the error that the triggers request. */
export function triggeredError(triggers: Triggers): NativeError | undefined {
  return errors.find(([name]) => triggers.has(name))?.[1]();
}

/** Converts a missing engine to `ModelUnavailable`. Returns every other error unchanged. */
export function convertEngineError(error: unknown): unknown {
  return error instanceof EngineMissing ? new NativeError(503, 'ModelUnavailable', error.message) : error;
}

/** Throws the error that the triggers request, or waits until the client disconnects. */
export async function failOrHang({ signal }: Exchange, triggers: Triggers): Promise<void> {
  const error = triggeredError(triggers);
  if (error) throw error;
  if (triggers.has('hang')) await rejectOnAbort(signal);
}

/** Applies the triggers that fail, block or delay a request. */
export async function applyTriggers(exchange: Exchange, triggers: Triggers): Promise<void> {
  const { services, signal } = exchange;
  await failOrHang(exchange, triggers);
  if (triggers.has('slow')) await setTimeout(services.slowDelayMs, undefined, { signal });
}

/** Destroys the connection after the written data has been flushed. */
export async function dropConnection({ response, signal }: Exchange): Promise<never> {
  await setImmediate();
  response.destroy();
  return await rejectOnAbort(signal);
}

/** Never resolves. Rejects with the reason of the signal. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Returns the error that triggers in a voice or in instructions request before any text arrives. */
export function errorBeforeText(text: string): NativeError | undefined {
  return errorOnArrival(text) ?? triggeredError(findTriggers(text));
}

/** Returns the error that applies when the text arrives, before its synthesis starts. */
export function errorOnArrival(text: string): NativeError | undefined {
  if (!findTriggers(text).has('refuse-after-upgrade')) return undefined;
  return new NativeError(403, 'AccessDenied', 'The account may not use this model');
}

/** Returns the WebSocket close code for an error that ends a session. */
export function closeCodeFor({ status }: NativeError): number {
  if (status === 401 || status === 403) return 1008;
  if (status === 429) return 1013;
  return status < 500 ? 1007 : 1011;
}
