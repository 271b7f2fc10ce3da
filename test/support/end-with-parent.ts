import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';

// Preloaded by processes that tests start. Their standard input is a pipe without a writer, which ends when the test
// process ends for any reason. Otherwise they would never end after a crash of the runner.
// A gateway worker ends by itself when its primary process has ended.
if (isMainThread && cluster.isPrimary) {
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  process.stdin.unref();
}
