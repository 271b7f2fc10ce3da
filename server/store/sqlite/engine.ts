import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Availability, Probe, StoreUnavailable } from '../availability.ts';
import { laneOf, type ReportLane, type ReportName } from '../reports.ts';
import type { Database } from '../schema.ts';
import type { Store, StoreOptions } from '../store.ts';
import { databaseName, openReader } from './connection.ts';
import { prepareDataFolder } from './data-folder.ts';
import { nodeSqliteDialect } from './dialect.ts';
import { lockFolder } from './folder-lock.ts';
import { Reader } from './reader-client.ts';
import { startWriter } from './writer-client.ts';

/** Opens the store in `dataDir/unigate.db`. One worker thread writes. `read` runs on the calling thread. */
export async function openSqliteStore(
  dataDir: string,
  { onAvailability = () => {} }: Pick<StoreOptions, 'onAvailability'> = {},
): Promise<Store> {
  prepareDataFolder(dataDir);
  const lock = lockFolder(dataDir);
  try {
    const file = join(dataDir, databaseName);
    const writer = await startWriter(file, new Availability(onAvailability));
    const reader = openReader(file);
    const readers = new Map<ReportLane, Reader>();
    const readerFor = (name: ReportName) => readers.getOrInsertComputed(laneOf(name), () => new Reader(file));
    const read = new Kysely<Database>({ dialect: nodeSqliteDialect(reader) });
    const probe = new Probe(async () => {
      await sql`select 1`.execute(read);
      await writer.probe();
    });
    const retries = new AbortController();
    let closed: Promise<void> | undefined;
    return {
      engine: 'sqlite',
      changeFeed: undefined,
      read,
      run(name, args) {
        if (closed !== undefined) return Promise.reject(new Error('the store is closed'));
        const result = writer.run(name, args);
        probe.watch(result);
        return result;
      },
      report: (name, args) =>
        closed === undefined
          ? readerFor(name).run(name, args)
          : Promise.reject(new StoreUnavailable(new Error('the store is closed'), 'DATA_DIR')),
      check: () => probe.check(),
      failed: writer.failed,
      retrySignal: retries.signal,
      stopRetries: () => retries.abort(),
      close() {
        closed ??= (async () => {
          retries.abort();
          // The writer closes last, so that it can merge the write-ahead log into the file.
          reader.close();
          await Promise.all([...readers.values()].map((one) => one.close()));
          await writer.close().finally(() => lock.release());
        })();
        return closed;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
