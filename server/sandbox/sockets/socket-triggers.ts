import { NativeError } from '../http/native-error.ts';
import { refusalOf } from '../native/refusals.ts';
import { findTriggers } from '../triggers.ts';

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
