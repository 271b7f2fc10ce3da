import { StoreUnavailable } from '../availability.ts';
import type { CommandName } from '../commands/registry.ts';

export interface CommandCall {
  name: CommandName;
  args: unknown;
}

/** Commands for one commit, a check whether the database is writable, or the end of the thread. */
export type ToWriter = readonly CommandCall[] | 'probe' | 'close';

/** `ready` once the schema is up to date. Then the outcomes of each commit, and the results of checks, null if it is writable. */
export type FromWriter = 'ready' | Outcome[] | { probed: CarriedError | null };

export type Outcome = { result: unknown } | { error: CarriedError };

/** An error as plain data, since an error that is cloned between threads loses its name and its code. */
export interface CarriedError {
  name: string;
  message: string;
  stack?: string;
  code?: string;
  /** It is the cause of a `StoreUnavailable`. */
  unavailable?: true;
}

export function packError(error: unknown): CarriedError {
  if (error instanceof StoreUnavailable) return { ...packError(error.cause), unavailable: true };
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
  };
}

export function unpackError({ name, message, stack, code, unavailable }: CarriedError): Error {
  const error = Object.assign(new Error(message), { name, stack }, code === undefined ? {} : { code });
  return unavailable ? new StoreUnavailable(error, 'DATA_DIR') : error;
}

/** @throws the error of a failed call */
export function resultOf(outcome: Outcome): unknown {
  if ('error' in outcome) throw unpackError(outcome.error);
  return outcome.result;
}
