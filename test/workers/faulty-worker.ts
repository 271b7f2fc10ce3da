import { openSync } from 'node:fs';
import { workerArgument } from '../../server/app/workers/rpc-methods.ts';

// Preloaded by every process of a gateway. It lets a test block or kill workers.
if (process.argv[2] === workerArgument) {
  process.on('SIGUSR2', () => {
    for (;;);
  });
  const { KILL_ONE_AT_START: marker } = process.env;
  if (marker && isFirst(marker)) process.kill(process.pid, 'SIGKILL');
}

/** Returns true in the first process that calls it. */
function isFirst(marker: string): boolean {
  try {
    openSync(marker, 'wx');
    return true;
  } catch {
    return false;
  }
}
