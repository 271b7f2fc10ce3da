import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { migrate } from '../../server/store/migrate.ts';
import type { Database } from '../../server/store/schema.ts';
import { Batches } from '../../server/store/sqlite/batches.ts';
import { openWriter } from '../../server/store/sqlite/connection.ts';
import { nodeSqliteDialect } from '../../server/store/sqlite/dialect.ts';
import { unpackError } from '../../server/store/sqlite/messages.ts';

test('commands beside a failing command are written once, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unigate-batches-'));
  const connection = openWriter(join(folder, 'unigate.db'));
  const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
  await migrate(db, 'sqlite');
  const batches = new Batches(connection, db);
  const make = (name: unknown) => ({
    name: 'createUser' as const,
    args: { name, group: 'default', now: 1 },
  });
  try {
    const outcomes = await batches.run([make('one'), make(null), make('three')]);
    expect(outcomes.map((outcome) => 'error' in outcome)).toEqual([false, true, false]);
    const rows = await db.selectFrom('users').select(['id', 'name']).orderBy('id').execute();
    expect(rows.map(({ name }) => name)).toEqual(['one', 'three']);
    expect(outcomes).toMatchObject([{ result: { id: rows[0]?.id } }, {}, { result: { id: rows[1]?.id } }]);
    expect(connection.isTransaction).toBe(false);
  } finally {
    connection.close();
    rmSync(folder, { recursive: true });
  }
});

test('a command that does not fit in memory fails no other command and can be repeated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unigate-batches-'));
  const connection = openWriter(join(folder, 'unigate.db'));
  const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
  await migrate(db, 'sqlite');
  const batches = new Batches(connection, db);
  const make = (length: number) => ({
    name: 'createUser' as const,
    args: { name: 'a'.repeat(length), group: 'default', now: 1 },
  });
  const names = async () =>
    (await db.selectFrom('users').select('name').orderBy('id').execute()).map(({ name }) => name.length);
  const batch = () => batches.run([make(1), make(1_000_000), make(3)]);
  try {
    const { page_count: pages } = connection.prepare('pragma page_count').get() as { page_count: number };
    connection.exec(`pragma max_page_count = ${pages + 5}`);
    const [first, second, third] = await batch();
    expect([first, third]).toMatchObject([{ result: { id: 2 } }, { result: { id: 3 } }]);
    if (second === undefined || !('error' in second)) throw new Error('the second one found room');
    expect(unpackError(second.error)).toBeInstanceOf(StoreUnavailable);
    expect(unpackError(second.error).cause).toMatchObject({ message: expect.stringContaining('full') });
    expect(await names()).toEqual([1, 3]);
    connection.exec('pragma max_page_count = 100000');
    expect((await batch()).map((outcome) => 'error' in outcome)).toEqual([false, false, false]);
    expect(await names()).toEqual([1, 3, 1, 1_000_000, 3]);
  } finally {
    connection.close();
    rmSync(folder, { recursive: true });
  }
});
