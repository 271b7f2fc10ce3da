import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../availability.ts';
import type { ReportArgs, ReportName, ReportResult } from '../reports.ts';
import { type Outcome, resultOf } from './messages.ts';
import type { ReportAnswer, ReportCall } from './reader.ts';

/** Runs reports in a thread. The first report starts it, and also the first one after a failure of the thread. */
export class Reader {
  readonly #file: string;
  readonly #pending = new Map<number, PromiseWithResolvers<Outcome>>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws StoreUnavailable when the thread fails or is closed, else the report's own error */
  async run<Name extends ReportName>(name: Name, args: ReportArgs<Name>): Promise<ReportResult<Name>> {
    if (this.#isClosed) throw new StoreUnavailable(new Error('the store is closed'), 'DATA_DIR');
    this.#lastId += 1;
    const call: ReportCall = { id: this.#lastId, name, args };
    this.#worker ??= this.#start();
    this.#worker.postMessage(call);
    const pending = Promise.withResolvers<Outcome>();
    this.#pending.set(call.id, pending);
    return resultOf(await pending.promise) as ReportResult<Name>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const options = { workerData: this.#file, name: 'store reader' };
    const worker = new Worker(new URL('./reader.ts', import.meta.url), options);
    const fail = (reason: Error) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#pending.values()) reject(new StoreUnavailable(reason, 'DATA_DIR'));
      this.#pending.clear();
    };
    worker.on('message', ({ id, outcome }: ReportAnswer) => {
      this.#pending.get(id)?.resolve(outcome);
      this.#pending.delete(id);
    });
    worker.on('error', (cause) => fail(new Error('the store reader failed', { cause })));
    worker.on('exit', () => fail(new Error('the store reader has stopped')));
    // An idle thread must not keep the process alive.
    worker.unref();
    return worker;
  }
}
