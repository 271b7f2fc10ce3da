import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../availability.ts';
import type { ReportArgs, ReportName, ReportResult } from '../reports.ts';
import { type Outcome, unpackError, type WriterData } from './messages.ts';
import type { ReportCall } from './reader.ts';

interface Asker {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Runs reports in a thread of their own, which is started by the first one, and again when it has failed. */
export class Reader {
  readonly #file: string;
  readonly #askers = new Map<number, Asker>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws StoreUnavailable when the thread fails or is closed, else the report's own error. */
  run<Name extends ReportName>(name: Name, args: ReportArgs<Name>): Promise<ReportResult<Name>> {
    return new Promise<ReportResult<Name>>((resolve, reject) => {
      if (this.#closed) throw new StoreUnavailable(new Error('the store is closed'));
      this.#lastId += 1;
      const call: ReportCall = { id: this.#lastId, name, args };
      this.#worker ??= this.#start();
      this.#askers.set(call.id, { resolve, reject });
      this.#worker.postMessage(call);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const workerData: WriterData = { file: this.#file };
    const worker = new Worker(new URL('./reader.ts', import.meta.url), { workerData, name: 'store reader' });
    const fail = (reason: Error) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#askers.values()) reject(new StoreUnavailable(reason));
      this.#askers.clear();
    };
    worker.on('message', (outcome: Outcome) => {
      const asker = this.#askers.get(outcome.id);
      this.#askers.delete(outcome.id);
      if ('error' in outcome) asker?.reject(unpackError(outcome.error));
      else asker?.resolve(outcome.result);
    });
    worker.on('error', (cause) => fail(new Error('the store reader failed', { cause })));
    worker.on('exit', () => fail(new Error('the store reader has stopped')));
    // It waits for questions as long as the process lives, and must not keep it alive.
    worker.unref();
    return worker;
  }
}
