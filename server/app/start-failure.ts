import { SettingsError } from '../settings/settings-error.ts';
import { StoreUnavailable } from '../store/availability.ts';

/** The error of a server that cannot listen. */
interface ListenError extends NodeJS.ErrnoException {
  address?: string;
  port?: number;
}

/** A failure whose message is complete for the operator, without a stack. */
export class PlainFailure extends Error {
  override readonly name = 'PlainFailure';
}

/** Describes why the gateway does not start: one line with the variable to correct, or the stack of an unexpected error. */
export function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SettingsError || error instanceof PlainFailure) return error.message;
  if (error instanceof StoreUnavailable) {
    const problem = `database does not answer: ${reasonOf(error.cause)}.`;
    return error.setting === undefined ? `The ${problem}` : `${error.setting}: the ${problem}`;
  }
  const { code = '', syscall = '', message, address = '', port } = error as ListenError;
  if (code === 'EADDRINUSE') {
    const host = address.includes(':') ? `[${address}]` : address;
    return `PORT: ${host}:${port} is in use; stop the other program or set another PORT.`;
  }
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `HOST and PORT: cannot listen there: ${message}.`;
  if (code.startsWith('ERR_OSSL')) return `TLS_CERT and TLS_KEY: ${message}.`;
  return error.stack ?? message;
}

/** Returns the message of an error. Errors of several addresses are joined. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
