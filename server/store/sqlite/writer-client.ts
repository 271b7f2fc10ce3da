import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SettingsError } from '../../settings/configuration.ts';
import { commitDuration, commitSize } from '../../telemetry/metrics.ts';
import { type Availability, StoreUnavailable } from '../availability.ts';
import type { Args, CommandName, Result } from '../commands/registry.ts';
import {
  type CommandCall,
  type FromWriter,
  type Outcome,
  type ToWriter,
  unpackError,
  type WriterData,
} from './messages.ts';

export interface Writer {
  run<Name extends CommandName>(name: Name, args: Args<Name>): Promise<Result<Name>>;
  /** Writes something of no matter, ahead of what waits. At the most one at a time. */
  probe(): Promise<void>;
  /** Resolves with the reason if the thread ends by itself. */
  readonly failed: Promise<Error>;
  /** Refuses new commands, commits those given before, and ends the thread. */
  close(): Promise<void>;
}

interface Caller {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** From so many commands in one commit on, the next commit waits for more: a commit costs as much as several commands. */
const busyBatch = 6;
/** Milliseconds. */
const commitDelay = 1;

/** Starts the writer thread on a database file and waits until its schema is up to date. */
export async function startWriter(file: string, availability: Availability): Promise<Writer> {
  const workerData: WriterData = { file };
  const worker = new Worker(new URL('./writer.ts', import.meta.url), { workerData, name: 'store writer' });
  await once(worker, 'message').catch((error: Error) => {
    // Crossing the thread costs an error its class.
    throw error.name === 'SettingsError' ? new SettingsError(error.message, { cause: error }) : error;
  });

  const callers = new Map<number, Caller>();
  let outbox: CommandCall[] = [];
  let lastId = 0;
  let stopped: Error | undefined;
  let prober: PromiseWithResolvers<void> | undefined;
  const failed = Promise.withResolvers<Error>();

  const send = (message: ToWriter) => worker.postMessage(message);
  // One message a commit: a message costs far more than a command in it, so what comes meanwhile waits together.
  let committing = false;
  let sentAt = 0;
  const flush = () => {
    const calls = outbox;
    outbox = [];
    committing = calls.length > 0;
    sentAt = performance.now();
    try {
      if (committing) send(calls);
    } catch {
      committing = calls.map(sendAlone).includes(true);
    }
  };
  // Arguments that cannot cross to the thread are the fault of one caller, not of its neighbours.
  const sendAlone = (call: CommandCall): boolean => {
    try {
      send([call]);
      return true;
    } catch (error) {
      callers.get(call.id)?.reject(error as Error);
      callers.delete(call.id);
      return false;
    }
  };
  const fail = (reason: Error) => {
    if (stopped === undefined) failed.resolve(reason);
    stopped ??= new StoreUnavailable(reason);
    for (const caller of callers.values()) caller.reject(stopped);
    callers.clear();
    prober?.reject(stopped);
  };

  worker.on('message', (message: Exclude<FromWriter, 'ready'>) => {
    if (Array.isArray(message)) take(message);
    else if (message.probed === null) prober?.resolve();
    else prober?.reject(unpackError(message.probed));
  });
  const take = (outcomes: Outcome[]) => {
    commitSize.record(outcomes.length);
    commitDuration.record((performance.now() - sentAt) / 1e3);
    let reason: Error | undefined;
    for (const outcome of outcomes) {
      const caller = callers.get(outcome.id);
      callers.delete(outcome.id);
      if ('error' in outcome) {
        const error = unpackError(outcome.error);
        if (error instanceof StoreUnavailable) reason = error;
        caller?.reject(error);
      } else caller?.resolve(outcome.result);
    }
    if (reason === undefined) availability.found();
    else availability.lost(reason.cause);
    // After the callers have gone on, since they may have more to write. Under load it pays to wait for others.
    if (outcomes.length < busyBatch) setImmediate(flush);
    else setTimeout(flush, commitDelay);
  };
  worker.on('error', (cause) => fail(new Error('the store writer failed', { cause })));
  worker.on('exit', () => fail(new Error('the store writer has stopped')));

  return {
    run: <Name extends CommandName>(name: Name, args: Args<Name>) =>
      new Promise<Result<Name>>((resolve, reject) => {
        if (stopped !== undefined) throw stopped;
        if (outbox.length === 0 && !committing) setImmediate(flush);
        lastId += 1;
        outbox.push({ id: lastId, name, args });
        callers.set(lastId, { resolve, reject });
      }),
    async probe() {
      if (stopped !== undefined) throw stopped;
      prober = Promise.withResolvers();
      send('probe');
      await prober.promise;
    },
    failed: failed.promise,
    async close() {
      if (stopped !== undefined) return;
      stopped = new Error('the store is closed');
      flush();
      send('close');
      await once(worker, 'exit');
    },
  };
}
