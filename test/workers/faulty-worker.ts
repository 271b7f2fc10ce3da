import { openSync } from 'node:fs';
import { workerArgument } from '../../server/app/workers/questions.ts';

// Loaded by every process of a gateway before anything else. It makes workers fail as a test wants.
if (process.argv[2] === workerArgument) {
  process.on('SIGUSR2', () => {
    for (;;);
  });
  const { KILL_ONE_AT_START: marker } = process.env;
  if (marker && isFirst(marker)) process.kill(process.pid, 'SIGKILL');
}

/** True for the first process that asks. */
function isFirst(marker: string): boolean {
  try {
    openSync(marker, 'wx');
    return true;
  } catch {
    return false;
  }
}
