import { APIError, RealtimeError, TaskFailedError } from '../errors.ts';
import { ErrorWithHint } from './error-with-hint.ts';
import { isClosedPipe } from './run-process.ts';
import { describeSystemError } from './system-error.ts';
import { printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

interface FailureContext {
  /** Program name. */
  program: string;
  /** API keys, which are masked. */
  keys: readonly string[];
  /** Whether a signal ended the command. */
  stopped: boolean;
}

/** Prints an error as one line on stderr. Returns the exit code. */
export function reportFailure(
  error: unknown,
  { stderr }: Pick<Terminal, 'stderr'>,
  { program, keys, stopped }: FailureContext,
): number {
  const hasHint = error instanceof ErrorWithHint;
  const cause = hasHint ? error.cause : error;
  if (isClosedPipe(cause)) return 0;
  const description = stopped ? 'stopped.' : describe(cause, program);
  const line = printable(hasHint ? `${description} ${error.message}` : description).replaceAll(/\s+/g, ' ');
  stderr.write(`unigate: ${keys.reduce((text, key) => text.replaceAll(key, '***'), line)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function describe(error: unknown, program: string): string {
  if (error instanceof APIError) {
    const { status, code, message, requestId } = error;
    return `${code ?? 'error'} (${status}): ${message}${requestId ? ` [request ${requestId}]` : ''}`;
  }
  if (error instanceof TaskFailedError && error.task)
    return `${error.code}: ${error.message} [${error.taskId}]`;
  if (error instanceof RealtimeError || error instanceof TaskFailedError) {
    const { code, message, requestId } = error;
    return `${code ?? 'error'}: ${message}${requestId ? ` [request ${requestId}]` : ''}`;
  }
  if (error instanceof UsageError) return `${error.message} See ${program} --help.`;
  return describeSystemError(error) ?? (error instanceof Error ? error.message : String(error));
}
