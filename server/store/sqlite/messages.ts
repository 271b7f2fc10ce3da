import { StoreUnavailable } from '../availability.ts';
import type { CommandName } from '../commands/registry.ts';

/** What the writer thread is started with. */
export interface WriterData {
  file: string;
}

/**
 * Commands in the order they were given, as one message; the question whether it can write; or the order to stop after
 * what came before.
 */
export type ToWriter = CommandCall[] | 'probe' | 'close';

export interface CommandCall {
  id: number;
  name: CommandName;
  args: unknown;
}

/** Sent once the schema is up to date; then one list a commit, and the answers to probes: null means that it can. */
export type FromWriter = 'ready' | Outcome[] | { probed: CarriedError | null };

export type Outcome = { id: number; result: unknown } | { id: number; error: CarriedError };

/** An error as plain data: cloning one between threads loses its name and its code. */
export interface CarriedError {
  name: string;
  message: string;
  stack?: string;
  code?: string;
  /** It is the reason of a `StoreUnavailable`. */
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
  return unavailable ? new StoreUnavailable(error) : error;
}
