import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type CollectGarbage = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects the garbage of this thread and returns unused pages to the operating system. It blocks the thread for about
 * 50 ms after a start. V8 enlarges the young generation to its limit during a start, because all loaded modules survive, and does not
 * shrink it in an idle process.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as CollectGarbage;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
