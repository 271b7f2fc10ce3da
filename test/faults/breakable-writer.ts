import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { Worker, type WorkerOptions } from 'node:worker_threads';

// Loaded before the gateway: at SIGUSR2 the thread that writes the database ends, as one does that is out of memory.
workerThreads.Worker = class extends Worker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    super(filename, options);
    if (options?.name === 'store writer') process.once('SIGUSR2', () => void this.terminate());
  }
};
syncBuiltinESMExports();
