import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';
import { openReader } from './connection.ts';
import { nodeSqliteDialect } from './dialect.ts';
import { lockFolder } from './folder-lock.ts';
import { startWriter } from './writer-client.ts';

/** The store in `dataDir/unigate.db`: one writer in a worker thread, reads on the thread that asks. */
export async function openSqliteStore(dataDir: string): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(dataDir);
  try {
    const file = join(dataDir, 'unigate.db');
    const writer = await startWriter(file);
    const reader = openReader(file);
    let closed: Promise<void> | undefined;
    return {
      engine: 'sqlite',
      read: new Kysely<Database>({ dialect: nodeSqliteDialect(reader) }),
      run: (name, args) => writer.run(name, args),
      close() {
        closed ??= (async () => {
          // The writer is the last to leave, so that it can fold the write-ahead log into the file.
          reader.close();
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
