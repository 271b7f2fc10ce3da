import { DatabaseSync } from 'node:sqlite';

/** Milliseconds to wait for a lock, which only a checkpoint or an outside tool can hold. */
const busyTimeout = 5_000;

/** The one writing connection. FULL: a commit is on the disk before anybody hears of it. */
export function openWriter(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: busyTimeout });
  connection.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma temp_store = memory`);
  return connection;
}

/** A connection that sees what is committed and cannot write. */
export function openReader(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: busyTimeout, readOnly: true });
}
