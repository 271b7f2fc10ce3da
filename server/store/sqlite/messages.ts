import type { CommandName } from '../commands/registry.ts';

/** What the writer thread is started with. */
export interface WriterData {
  file: string;
}

/** Commands in the order they were given, as one message; or the wish to stop after what came before. */
export type ToWriter = CommandCall[] | 'close';

export interface CommandCall {
  id: number;
  name: CommandName;
  args: unknown;
}

/** Sent once the schema is up to date, and then one list a commit. */
export type FromWriter = 'ready' | Outcome[];

export type Outcome = { id: number; result: unknown } | { id: number; error: CarriedError };

/** An error as plain data: cloning one between threads loses its name and its code. */
export interface CarriedError {
  name: string;
  message: string;
  stack?: string;
  code?: string;
}

export function packError(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
  };
}

export function unpackError(carried: CarriedError): Error {
  const error = Object.assign(new Error(carried.message), { name: carried.name, stack: carried.stack });
  return carried.code === undefined ? error : Object.assign(error, { code: carried.code });
}
