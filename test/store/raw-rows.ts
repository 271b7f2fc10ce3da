import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { dayOf } from '../../server/store/log-days.ts';
import { onServer, type TestStore } from './engines.ts';

type Row = Readonly<Record<string, SQLInputValue>>;

/** Inserts rows without a command, as an operator could with a database client. */
export async function insertRows(testStore: TestStore, table: string, rows: readonly Row[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => names.map((name) => row[name] ?? null));
  const text = (marks: readonly string[]) =>
    `insert into ${table} (${names.join(', ')}) values (${marks.join(', ')})`;
  await runRaw(
    testStore,
    values.map((list) => [(mark) => text(list.map((_, index) => mark(index + 1))), list]),
  );
}

/** Columns of a log entry that most tests need no values for. */
const logDefaults: Row = {
  debt: 0,
  reserved: 1,
  unlimited: 1,
  state: 'completed',
  unit_price: 1,
  group_ratio: 1,
  group_name: 'default',
  config_revision: 'revision',
};

/** Inserts log entries, on PostgreSQL with their day. */
export function insertLogEntries(
  testStore: TestStore,
  entries: readonly (Row & { created_at: number })[],
): Promise<void> {
  const dayFor = (at: number): Row => (testStore.engine === 'postgres' ? { day: dayOf(at * 1000) } : {});
  const rows = entries.map((entry): Row => ({ ...logDefaults, ...entry, ...dayFor(entry.created_at) }));
  return insertRows(testStore, 'request_log', rows);
}

/** Runs a statement without a command. */
export function runStatement(testStore: TestStore, statement: string): Promise<void> {
  return runRaw(testStore, [[() => statement, []]]);
}

type Raw = readonly [text: (mark: (index: number) => string) => string, values: SQLInputValue[]];

async function runRaw({ engine, options }: TestStore, statements: readonly Raw[]): Promise<void> {
  if (engine === 'sqlite') {
    const books = new DatabaseSync(join(options.dataDir, 'unigate.db'), { timeout: 5_000 });
    try {
      books.exec('begin immediate');
      for (const [text, values] of statements) books.prepare(text(() => '?')).run(...values);
      books.exec('commit');
    } finally {
      books.close();
    }
    return;
  }
  await onServer(async (client) => {
    await client.query(`set search_path = ${options.schema}`);
    await client.query('begin');
    for (const [text, values] of statements)
      await client.query(
        text((index) => `$${index}`),
        values,
      );
    await client.query('commit');
  });
}
