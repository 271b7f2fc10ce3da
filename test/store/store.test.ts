import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { standardLimits } from '../../server/settings/database.ts';
import type { LogEntry } from '../../server/store/commands/log-entries.ts';
import { openStore } from '../../server/store/open-store.ts';
import { openWriter } from '../../server/store/sqlite/connection.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { balanceOf, expectBalanced, ledgerRows, logEntry, logRows, makeToken } from './ledger.ts';

const newUser = (name: string) => ({ name, group: 'default', now: 1 });
const reservation = (token: { id: number; userId: number }, requestId: string) => ({
  requestId,
  tokenId: token.id,
  userId: token.userId,
  model: 'alpha3-tts-flash',
  unit: 'characters',
  amount: 10,
  kind: 'request' as const,
  gateway: 'here',
  now: 1,
});

describe.each(engines)('store on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
  });
  afterEach(() => testStore.remove());

  test('keeps its data, and migrates once, across restarts', async () => {
    const first = await testStore.open();
    const { id } = await first.run('createUser', newUser('kept'));
    await first.close();
    const second = await testStore.open();
    const user = await second.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
    expect(user).toEqual({
      id,
      name: 'kept',
      group_name: 'default',
      role: 'user',
      disabled_at: null,
      disabled_by_customer: 0,
      created_at: 1,
      parent_id: null,
    });
  });

  test('a read sees every command that has resolved', async () => {
    const store = await testStore.open();
    for (let index = 0; index < 20; index += 1) {
      const { id } = await store.run('createUser', newUser(`user ${index}`));
      const row = await store.read.selectFrom('users').select('name').where('id', '=', id).executeTakeFirst();
      expect(row).toEqual({ name: `user ${index}` });
    }
  });

  test('reads integers up to 2^53 and their sums as numbers', async () => {
    const store = await testStore.open();
    await makeToken(store, { remainQuota: Number.MAX_SAFE_INTEGER - 1 });
    await makeToken(store, { remainQuota: 1 });
    const row = await store.read
      .selectFrom('tokens')
      .select(({ fn }) => [fn.sum('remain_quota').as('sum'), fn.countAll().as('count')])
      .executeTakeFirst();
    expect(row).toEqual({ sum: Number.MAX_SAFE_INTEGER, count: 2 });
  });

  test('a failing command is rolled back alone', async () => {
    const store = await testStore.open();
    const token = await makeToken(store, { remainQuota: 100 });
    await store.run('reserve', reservation(token, 'r1'));
    // Issued together: on SQLite they share a transaction. The middle one fails after its first write.
    const broken = undefined as unknown as LogEntry;
    const [before, failed, after] = await Promise.allSettled([
      store.run('reserve', reservation(token, 'r2')),
      store.run('settle', { requestId: 'r1', charged: 3, log: broken, now: 5 }),
      store.run('reserve', reservation(token, 'r3')),
    ]);
    expect(before).toEqual({ status: 'fulfilled', value: 'reserved' });
    expect(after).toEqual({ status: 'fulfilled', value: 'reserved' });
    expect(failed.status).toBe('rejected');
    const rows = await ledgerRows(store);
    expect(rows.map((row) => [row.request_id, row.state])).toEqual([
      ['r1', 'open'],
      ['r2', 'open'],
      ['r3', 'open'],
    ]);
    expect(await logRows(store)).toEqual([]);
    await expectBalanced(store, token);
    expect(await store.run('settle', { requestId: 'r1', charged: 3, log: logEntry, now: 5 })).toEqual({
      charged: 3,
      debt: 0,
    });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 77, used_quota: 3 });
  });

  test("errors are real, with the command's own name and message", async () => {
    const store = await testStore.open();
    const token = await makeToken(store, { remainQuota: 100 });
    await store.run('reserve', reservation(token, 'r1'));
    const broken = undefined as unknown as LogEntry;
    const error = await store
      .run('settle', { requestId: 'r1', charged: 3, log: broken, now: 5 })
      .catch((e) => e);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining('operation') });
    const unknownUser = { userId: 12345, name: 'k', keyHash: 'h', keyHint: 'h', now: 1 };
    await expect(store.run('createToken', unknownUser)).rejects.toThrow(/foreign key/i);
  });

  test('arguments that cannot be cloned fail only their own call', async () => {
    const store = await testStore.open();
    const results = await Promise.allSettled([
      store.run('createUser', newUser('one')),
      store.run('createUser', { ...newUser('two'), name: (() => 'two') as unknown as string }),
      store.run('createUser', newUser('three')),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('close finishes the commands given before it and refuses later ones', async () => {
    // On a busy machine, many concurrent commands wait long for a connection.
    const store = await testStore.open({ postgres: { ...standardLimits, connectTimeoutMs: 60_000 } });
    const given = Array.from({ length: 700 }, (_, index) =>
      store.run('createUser', newUser(`user ${index}`)),
    );
    const closed = store.close();
    await expect(store.run('createUser', newUser('late'))).rejects.toThrow('the store is closed');
    await closed;
    await store.close();
    expect(new Set((await Promise.all(given)).map((user) => user.id)).size).toBe(700);
    const again = await testStore.open();
    const names = await again.read.selectFrom('users').select('name').execute();
    expect(names).toHaveLength(700);
  });
});

describe.runIf(engines.includes('postgres'))('several gateways on PostgreSQL', () => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make('postgres');
  });
  afterEach(() => testStore.remove());

  test('may migrate at the same time', async () => {
    const [first, ...others] = await Promise.all([
      testStore.open(),
      testStore.open(),
      testStore.open(),
      testStore.open(),
    ]);
    const { id } = await first.run('createUser', { name: 'shared', group: 'default', now: 1 });
    for (const store of others) {
      const row = await store.read.selectFrom('users').select('name').where('id', '=', id).executeTakeFirst();
      expect(row).toEqual({ name: 'shared' });
    }
  });

  test('agree on one bootstrap key', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => testStore.open()));
    await onServer((client) =>
      client.query(
        `insert into ${testStore.options.schema}.users (id, name, group_name, created_at) values (1, 'root', 'default', 1)`,
      ),
    );
    const made = await Promise.all(
      stores.map((store, index) =>
        store.run('ensureBootstrap', { keyHash: `hash ${index}`, keyHint: 'hint', onlyFirst: true, now: 1 }),
      ),
    );
    expect(made.filter((result) => result.created)).toHaveLength(1);
  });

  test('a command that a deadlock rolled back runs again', { timeout: 20_000 }, async () => {
    const { schema } = testStore.options;
    // The first session that detects the deadlock is rolled back: the store after two seconds, the rival never.
    const options = encodeURIComponent(`-c search_path=${schema} -c deadlock_timeout=2s`);
    const store = await testStore.open({
      databaseUrl: `${databaseUrl}?application_name=${schema}&options=${options}`,
    });
    const token = await makeToken(store, { remainQuota: 100 });
    await store.run('reserve', reservation(token, 'r1'));
    await onServer(async (rival) => {
      await rival.query(`set deadlock_timeout = '1min'`);
      // The rival locks the token first and the ledger row second. Settling locks them in the opposite order.
      await rival.query(`begin; update ${schema}.tokens set name = name`);
      const settled = store.run('settle', { requestId: 'r1', charged: 4, log: logEntry, now: 5 });
      const waits = `select 1 from pg_stat_activity where application_name = '${schema}' and wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect((await rival.query(waits)).rowCount).toBe(1), { interval: 10 });
      await rival.query(`update ${schema}.ledger set model = model`);
      await rival.query('rollback');
      expect(await settled).toEqual({ charged: 4, debt: 0 });
    });
    expect(await logRows(store)).toHaveLength(1);
    await expectBalanced(store, token);
  });

  test('opens a wallet after its first attempt has waited too long for a table', async () => {
    const { schema } = testStore.options;
    const store = await testStore.open();
    const { userId } = await makeToken(store, { remainQuota: 100 });
    await onServer(async (rival) => {
      await rival.query(`begin; lock table ${schema}.tokens in row exclusive mode`);
      const change = { userId: 1, tokenId: 1, action: 'openWallet', now: 5 };
      const opened = store.run('openWallet', { userId, change });
      const waitingTransaction = (previous?: string) =>
        vi.waitFor(
          async () => {
            const { rows } = await rival.query<{ id: string }>(`
              select virtualtransaction as id from pg_locks
              where not granted and relation = '${schema}.tokens'::regclass`);
            const [waiting] = rows;
            if (waiting === undefined || waiting.id === previous)
              throw new Error('no other transaction waits');
            return waiting.id;
          },
          { interval: 20 },
        );
      const first = await waitingTransaction();
      await waitingTransaction(first);
      await rival.query('rollback');
      expect(await opened).toMatchObject({ outcome: 'opened', wallet: { balance: 100 } });
    });
  });

  test('a schema name that would need quoting is refused', async () => {
    await expect(openStore({ dataDir: '', databaseUrl: 'postgres://x', schema: 'a b' })).rejects.toThrow(
      '"a b"',
    );
  });
});

describe('the SQLite data folder', () => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make('sqlite');
  });
  afterEach(() => testStore.remove());

  test('belongs to one gateway at a time', async () => {
    const message = `DATA_DIR ${testStore.options.dataDir} is in use by another gateway.`;
    const results = await Promise.allSettled([testStore.open(), testStore.open(), testStore.open()]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ message });
      else await result.value.close();
    }
    await testStore.open();
  });

  test('is synced to disk before a command is acknowledged', () => {
    const writer = openWriter(join(testStore.options.dataDir, 'unigate.db'));
    const setting = (name: string) => Object.values(writer.prepare(`pragma ${name}`).get() ?? {})[0];
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'].map(setting);
    writer.close();
    expect(settings).toEqual(['wal', 2, 1, 5_000]);
  });

  test('is created if it does not exist', async () => {
    const dataDir = join(testStore.options.dataDir, 'deep', 'down');
    const store = await openStore({ dataDir });
    await store.close();
    await access(join(dataDir, 'unigate.db'));
  });

  test('cannot be written through the reading connection', async () => {
    const store = await testStore.open();
    await expect(store.read.deleteFrom('users').execute()).rejects.toThrow(/readonly/);
  });

  test('closing merges the write-ahead log into the database file', async () => {
    const store = await testStore.open();
    await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
    await store.read.selectFrom('users').select('id').execute();
    await store.close();
    await expect(access(join(testStore.options.dataDir, 'unigate.db-wal'))).rejects.toThrow('ENOENT');
  });
});
