const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs the command of this process. The exit code is its result, or 130 or 143 after a signal. */
export async function runProcess(run: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const stop = new AbortController();
  let stoppedWith: number | undefined;
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.once(signal, () => {
      stoppedWith = code;
      stop.abort();
    });
  }
  // A reader such as `head` may close the pipe early, which is not an error.
  process.stdout.on('error', (error) => {
    if (!isClosedPipe(error)) throw error;
  });
  const code = await run(stop.signal);
  process.exitCode = stoppedWith ?? code;
}

/** Whether the reader of an output has closed the pipe. */
export function isClosedPipe(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPIPE';
}
