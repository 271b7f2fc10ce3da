import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';

/**
 * Persistent state of the sandbox: an embedded database, and a folder for files. Only one process at a time can open
 * it. Committed writes survive a kill.
 */
export class Storage {
  readonly folder: string;
  readonly #temporary: boolean;
  readonly #database: DatabaseSync;
  readonly #facts: Records<unknown>;

  /**
   * Without a folder, uses a temporary one that is deleted on close. Throws if another process has the database open.
   */
  constructor(folder?: string) {
    this.#temporary = folder === undefined;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'unigate-sandbox-'));
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.#database = new DatabaseSync(join(this.folder, 'sandbox.db'));
    try {
      this.#database.exec(`
        pragma locking_mode = exclusive;
        pragma journal_mode = wal;
        pragma synchronous = full;
        create table if not exists records (
          kind text not null, id text not null, value blob not null, unique (kind, id)
        );
      `);
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#facts = this.records('fact');
  }

  /** Returns the collection of one record type. */
  records<Value>(kind: string): Records<Value> {
    return new Records(this.#database, kind);
  }

  /** Returns the stored value, or stores and returns the result of `create`. */
  getOrCreate<Value>(name: string, create: () => Value): Value {
    const known = this.#facts.get(name) as Value | undefined;
    if (known !== undefined) return known;
    const value = create();
    this.#facts.put(name, value);
    return value;
  }

  /** Closes the database. Later writes are ignored, as after a kill. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
    if (this.#temporary) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A collection of values by id. Writes are durable when a call returns. Values must support structured cloning. */
export class Records<Value> {
  readonly #database: DatabaseSync;
  readonly #kind: string;
  readonly #statements: Record<'all' | 'get' | 'put' | 'delete', StatementSync>;

  constructor(database: DatabaseSync, kind: string) {
    this.#database = database;
    this.#kind = kind;
    this.#statements = {
      all: database.prepare('select id, value from records where kind = ? order by rowid'),
      get: database.prepare('select value from records where kind = ? and id = ?'),
      put: database.prepare(
        'insert into records values (?, ?, ?) on conflict do update set value = excluded.value',
      ),
      delete: database.prepare(
        'delete from records where kind = ? and id in (select value from json_each(?))',
      ),
    };
  }

  /** Returns all records in insertion order. */
  all(): [id: string, value: Value][] {
    return this.#statements.all.all(this.#kind).map(({ id, value }) => [id as string, read(value)]);
  }

  get(id: string): Value | undefined {
    const row = this.#statements.get.get(this.#kind, id);
    return row && read(row.value);
  }

  put(id: string, value: Value): void {
    if (this.#database.isOpen) this.#statements.put.run(this.#kind, id, serialize(value));
  }

  delete(ids: readonly string[]): void {
    if (this.#database.isOpen && ids.length > 0) this.#statements.delete.run(this.#kind, JSON.stringify(ids));
  }
}

function read<Value>(blob: unknown): Value {
  return deserialize(blob as Uint8Array) as Value;
}
