import { SettingsError } from '../settings/settings-error.ts';
import { StoreUnavailable } from '../store/availability.ts';

/** Why something does not run, in words for the operator that need no more. */
export class PlainFailure extends Error {
  override readonly name = 'PlainFailure';
}

/** Why the gateway does not start: a line that names the variable to mend; what only a programmer can mend, whole. */
export function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SettingsError || error instanceof PlainFailure) return error.message;
  if (error instanceof StoreUnavailable)
    return `DATABASE_URL or DATA_DIR: the database does not answer: ${reasonOf(error.cause)}.`;
  const { code = '', syscall = '', message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return 'PORT: the address is in use; stop the other program or set another PORT.';
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `HOST and PORT: cannot listen there: ${message}.`;
  if (code.startsWith('ERR_OSSL')) return `TLS_CERT and TLS_KEY: ${message}.`;
  return error.stack ?? message;
}

/** One line: an error of several addresses has its words in its parts. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
