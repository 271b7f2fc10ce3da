import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SettingsError } from '../../settings/settings-error.ts';
import { commitDuration, commitSize } from '../../telemetry/metrics.ts';
import { type Availability, StoreUnavailable } from '../availability.ts';
import { Batcher } from '../batcher.ts';
import type { Args, CommandName, Result } from '../commands/registry.ts';
import { sqliteFailure } from './dialect.ts';
import {
  type CommandCall,
  type FromWriter,
  type Outcome,
  resultOf,
  type ToWriter,
  unpackError,
} from './messages.ts';

/** Largest number of commands of a commit, which share a message, since messages are expensive. */
const maxBatch = 512;

/** Starts the writer thread on a database file and waits until its schema is up to date. */
export async function startWriter(file: string, availability: Availability) {
  const options = { workerData: file, name: 'store writer' };
  const worker = new Worker(new URL('./writer.ts', import.meta.url), options);
  await once(worker, 'message').catch((error: Error) => {
    // An error that is cloned between threads loses its class.
    throw error.name === 'SettingsError'
      ? new SettingsError(error.message, { cause: error })
      : sqliteFailure(error);
  });

  const failed = Promise.withResolvers<Error>();
  let isClosing = false;
  let ended: StoreUnavailable | undefined;
  let committing: PromiseWithResolvers<Outcome[]> | undefined;
  let probing: PromiseWithResolvers<void> | undefined;

  const send = (message: ToWriter) => worker.postMessage(message);
  const end = (reason: Error) => {
    if (!isClosing) failed.resolve(reason);
    ended ??= new StoreUnavailable(reason, 'DATA_DIR');
    committing?.reject(ended);
    probing?.reject(ended);
  };
  worker.on('message', (message: Exclude<FromWriter, 'ready'>) => {
    if (Array.isArray(message)) committing?.resolve(message);
    else if (message.probed === null) probing?.resolve();
    else probing?.reject(unpackError(message.probed));
  });
  worker.on('error', (cause) => end(new Error('the store writer failed', { cause })));
  worker.on('exit', () => end(new Error('the store writer has stopped')));

  const commit = async (calls: readonly CommandCall[]) => {
    if (ended !== undefined) throw ended;
    const sentAt = performance.now();
    send(calls);
    committing = Promise.withResolvers();
    const outcomes = await committing.promise;
    commitSize.record(outcomes.length);
    commitDuration.record((performance.now() - sentAt) / 1e3);
    const lost = outcomes.find((outcome) => 'error' in outcome && outcome.error.unavailable === true);
    if (lost !== undefined && 'error' in lost) availability.markUnavailable(unpackError(lost.error).cause);
    else availability.markAvailable();
    return outcomes;
  };
  const batcher = new Batcher<CommandCall, Outcome>(commit, maxBatch);

  return {
    run: async <Name extends CommandName>(name: Name, args: Args<Name>) =>
      resultOf(await batcher.add({ name, args })) as Result<Name>,
    /** Checks that the database is writable, ahead of waiting commands. At most one check at a time. */
    async probe(): Promise<void> {
      if (ended !== undefined) throw ended;
      probing = Promise.withResolvers();
      send('probe');
      await probing.promise;
    },
    /** Resolves with the reason if the thread ends by itself. */
    failed: failed.promise,
    /** Commits the waiting commands, and ends the thread. */
    async close(): Promise<void> {
      isClosing = true;
      await batcher.idle();
      if (ended !== undefined) return;
      send('close');
      await once(worker, 'exit');
    },
  };
}
