import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';

// Loaded before everything else by processes that tests start: their standard input is a pipe that nobody writes to, and
// it ends with the test's own process, however that ends. What has lost its test would go on for ever.
// A worker of a gateway ends by itself once the process that started it is gone.
if (isMainThread && cluster.isPrimary) {
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  process.stdin.unref();
}
