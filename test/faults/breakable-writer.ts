import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { Worker, type WorkerOptions } from 'node:worker_threads';

// Preloaded by the gateway. SIGUSR2 terminates the store writer thread, as running out of memory would.
workerThreads.Worker = class extends Worker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    super(filename, options);
    if (options?.name === 'store writer') process.once('SIGUSR2', () => void this.terminate());
  }
};
syncBuiltinESMExports();
