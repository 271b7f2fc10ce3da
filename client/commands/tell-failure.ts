import { APIError, RealtimeError, TaskFailedError } from '../errors.ts';
import { AdvisedError } from './advice.ts';
import { UsageError } from './check-options.ts';
import { isClosedPipe } from './run-process.ts';
import { printable, type Terminal } from './terminal.ts';

interface Surroundings {
  /** What the user called. */
  program: string;
  /** What the line must not show. */
  key: string | undefined;
  /** Whether a signal ended the command. */
  stopped: boolean;
}

/** Writes the one line of an error on stderr, and gives the exit code. */
export function tellFailure(
  error: unknown,
  { stderr }: Pick<Terminal, 'stderr'>,
  { program, key, stopped }: Surroundings,
): number {
  const advised = error instanceof AdvisedError;
  const cause = advised ? error.cause : error;
  if (isClosedPipe(cause)) return 0;
  const what = stopped ? 'stopped.' : describe(cause, program);
  const line = printable(advised ? `${what} ${error.message}` : what).replaceAll(/\s+/g, ' ');
  stderr.write(`unigate: ${key?.trim() ? line.replaceAll(key.trim(), '***') : line}\n`);
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
  return error instanceof Error ? error.message : String(error);
}
