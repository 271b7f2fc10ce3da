import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Exchange } from './http/exchange.ts';
import { internalError, NativeError } from './http/native-error.ts';
import { EngineMissing } from './speech/espeak.ts';
import { findTriggers, type TriggerName, type Triggers } from './triggers.ts';

const refusals: readonly [TriggerName, () => NativeError][] = [
  [
    'reject',
    () => new NativeError(400, 'DataInspectionFailed', 'The input may contain inappropriate content'),
  ],
  ['unauthorized', () => new NativeError(401, 'InvalidApiKey', 'The API key is not valid')],
  ['denied', () => new NativeError(403, 'AccessDenied', 'The account may not use this model')],
  ['throttle', throttled],
  ['error', () => internalError()],
  ['unavailable', () => new NativeError(503, 'ModelUnavailable', 'The model is not available at the moment')],
];

export function throttled(): NativeError {
  return new NativeError(429, 'Throttling.RateQuota', 'Too many requests for this model', {
    'retry-after': '1',
  });
}

/** The refusal that the triggers ask for. */
export function refusalOf(triggers: Triggers): NativeError | undefined {
  return refusals.find(([name]) => triggers.has(name))?.[1]();
}

/** Turns a missing engine into an unavailable model; any other error stays what it is. */
export function translateEngineError(error: unknown): unknown {
  return error instanceof EngineMissing ? new NativeError(503, 'ModelUnavailable', error.message) : error;
}

/** Refuses a request or leaves it without an answer, as its triggers say. */
export async function refuseOrHang({ signal }: Exchange, triggers: Triggers): Promise<void> {
  const refusal = refusalOf(triggers);
  if (refusal) throw refusal;
  if (triggers.has('hang')) await untilAborted(signal);
}

/** The same, or delays it. */
export async function obeyTriggers(exchange: Exchange, triggers: Triggers): Promise<void> {
  const { services, signal } = exchange;
  await refuseOrHang(exchange, triggers);
  if (triggers.has('slow')) await setTimeout(services.slowness, undefined, { signal });
}

/** Breaks the connection, after what has been written is out. */
export async function dropConnection({ response, signal }: Exchange): Promise<never> {
  await setImmediate();
  response.destroy();
  return await untilAborted(signal);
}

/** Never resolves; rejects with the signal's reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The refusal that the triggers in a voice or in instructions ask for, before any text has come. */
export function refusalBeforeText(text: string): NativeError | undefined {
  return refusalOnArrival(text) ?? refusalOf(findTriggers(text));
}

/** The refusal that does not wait for its turn to be spoken. */
export function refusalOnArrival(text: string): NativeError | undefined {
  if (!findTriggers(text).has('refuse-after-upgrade')) return undefined;
  return new NativeError(403, 'AccessDenied', 'The account may not use this model');
}

/** The code that a socket is closed with after an error that ends it. */
export function closeCodeOf({ status }: NativeError): number {
  if (status === 401 || status === 403) return 1008;
  if (status === 429) return 1013;
  return status < 500 ? 1007 : 1011;
}
