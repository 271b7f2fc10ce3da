import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dayMs, dayOf } from '../../server/store/log-days.ts';
import { migrations } from '../../server/store/migrations/all.ts';
import { readBooks } from '../../server/store/open-books.ts';
import { auditBooks } from '../../server/store/queries/audit.ts';
import { expectBalanced, logEntry, makeToken } from './books.ts';
import { engines, onServer, TestStore } from './engines.ts';
import { createOlderVersion } from './older-version.ts';

/** The first step that the version does not have which wrote the log without days. */
const firstNew = '0030-log-day';

const columns = `request_id, user_id, token_id, model_name, operation, channel, status, error_code, unit, units, prompt_tokens,
  completion_tokens, quota, duration_ms, created_at, held, unlimited`;

/** What the gateway of the version before asks of the log, word for word. */
const before = {
  written: `select r.request_id from (select * from json_to_recordset($1::json) as j(request_id text)) as r
    join request_log l on l.request_id = r.request_id and l.held is not null`,
  write: `insert into request_log (${columns}, token_name)
    select ${columns}, coalesce((select name from tokens where id = token_id), '')
    from (select * from json_to_recordset($1::json) as j(request_id text, user_id bigint, token_id bigint, model_name text,
      operation text, channel text, status integer, error_code text, unit text, units double precision,
      prompt_tokens bigint, completion_tokens bigint, quota bigint, duration_ms bigint, created_at bigint, held bigint,
      unlimited integer)) as e`,
  use: 'update tokens set used_quota = used_quota + $2 where id = $1',
  oldest: `select id from (select id, created_at, held from request_log order by id limit 1000) as first
    where held is not null and created_at < $1 order by id limit 200`,
  lock: `select id, request_id, token_id, quota as charged, unlimited from request_log where id in ($1) for update skip locked`,
  total: `insert into swept_totals (token_id, charged, spent) values ($1, $2, 0)
    on conflict (token_id) do update set charged = swept_totals.charged + $2`,
  sweep: 'delete from request_log where id in ($1)',
  end: 'select coalesce(max(id), 0) as id, pg_snapshot_xmax(pg_current_snapshot())::text as below from request_log',
  search: `select id, request_id from request_log where user_id = $1 and id >= 0 and id < 16384 order by id desc limit 20`,
};

/** What the gateway of the version before asks to close a reservation, whose row stays, word for word. */
const closing = {
  close: `update ledger set state = $1, closed_at = $2, gateway = null,
    charged = case when reserved < $3 then reserved else $4 end
  where request_id = $5 and state = 'open'
  returning token_id, user_id, model, unit, reserved, charged, unlimited`,
  reopen: `update ledger set state = 'open'
  where request_id = $1 and state = 'refunded' and gateway is not null
  returning token_id, reserved, unlimited`,
  log: `insert into request_log (${columns}, token_name, day)
    select $1, $2, $3, $4, 'o', 'c', 200, null, 'u', 1, 0, 0, $5, 1, $6, null, null, '', $6::bigint / 86400`,
  adjust: `update tokens set remain_quota = remain_quota + $1, used_quota = used_quota + $2
  where id = $3`,
  refundOrphans: `update "ledger" set "state" = 'refunded', "closed_at" = $1 where "state" = 'open' and "kind" = 'request'
    and not exists (select "id" from "gateways" where "gateways"."id" = "ledger"."gateway")
    returning "token_id", "reserved", "unlimited"`,
};

/** Noon of some day, in seconds. */
const start = Date.UTC(2026, 10, 18, 12) / 1000;

describe.runIf(engines.includes('postgres'))(
  'an upgrade while gateways of the version before are at work',
  () => {
    let testStore: TestStore;
    beforeEach(async () => {
      testStore = await TestStore.make('postgres');
      await createOlderVersion(testStore, firstNew);
      await onSchema((client) =>
        client.query(`
        insert into users (id, name, group_name, created_at) values (7, 'u', 'default', 1);
        insert into tokens (id, user_id, name, key_hash, key_hint, status, unlimited_quota, remain_quota, used_quota,
          expired_time, created_time) values (7, 7, 'k', 'h', '', 1, 1, 0, 0, -1, 1)`),
      );
    });
    afterEach(() => testStore.remove());

    const onSchema = <T>(use: (client: pg.Client) => Promise<T>) =>
      onServer(async (client) => {
        await client.query(`set search_path = ${testStore.options.schema}`);
        return use(client);
      });
    const applied = async () => {
      const { rows } = await onSchema((client) => client.query('select name from schema_migrations'));
      return new Set(rows.map(({ name }) => name));
    };
    /** A call as the version before books it. */
    const bookBefore = (client: pg.Client, requestId: string, quota = 3) =>
      inTransaction(client, async () => {
        const id = JSON.stringify([{ request_id: requestId }]);
        const { rows } = await client.query(before.written, [id]);
        if (rows.length > 0) return false;
        const entry = {
          request_id: requestId,
          user_id: 7,
          token_id: 7,
          model_name: 'm',
          operation: 'o',
          channel: 'c',
        };
        const figures = {
          status: 200,
          unit: 'u',
          units: 1,
          prompt_tokens: 0,
          completion_tokens: 0,
          quota,
          duration_ms: 1,
        };
        const whole = { ...entry, ...figures, created_at: start, held: quota, unlimited: 1 };
        await client.query(before.write, [JSON.stringify([whole])]);
        await client.query(before.use, [7, quota]);
        return true;
      });
    /** Sweeps the oldest entry as the version before does. */
    const sweepBefore = (client: pg.Client) =>
      inTransaction(client, async () => {
        const { rows } = await client.query(before.oldest, [start + 1e6]);
        const { rows: locked } = await client.query(before.lock, [rows[0]?.id]);
        const [gone] = locked;
        await client.query(before.total, [gone.token_id, gone.charged]);
        return (await client.query(before.sweep, [gone.id])).rowCount;
      });
    /** Settles as the version before does; of what was given back, the key is known to have enough. */
    const settleBefore = (client: pg.Client, requestId: string, charged: number) =>
      inTransaction(client, async () => {
        const close = () =>
          client.query(closing.close, ['settled', start * 1000, charged, charged, requestId]);
        let [row] = (await close()).rows;
        if (row === undefined) {
          const [anew] = (await client.query(closing.reopen, [requestId])).rows;
          if (anew === undefined) return false;
          await client.query(closing.adjust, [-anew.reserved, 0, anew.token_id]);
          [row] = (await close()).rows;
        }
        const entry = [requestId, row.user_id, row.token_id, row.model, row.charged, start];
        await client.query(closing.log, entry);
        await client.query(closing.adjust, [row.reserved - row.charged, row.charged, row.token_id]);
        return true;
      });
    const found = async (client: pg.Client) =>
      (await client.query(before.search, [7])).rows.map(({ request_id: id }) => id);
    const book = (requestId: string) => ({
      requestId,
      tokenId: 7,
      userId: 7,
      model: 'm',
      unit: 'u',
      lease: null,
      held: 5,
      charged: 5,
      returned: 0,
      endedAt: start * 1000,
      log: logEntry,
    });
    const problems = async () => (await readBooks(testStore.options, auditBooks)).problems;
    const fileOf = async (table: string) => {
      const { rows } = await onSchema((client) =>
        client.query('select pg_relation_filenode($1::regclass) as file', [table]),
      );
      return rows[0]?.file;
    };

    test('is done once by two gateways that start at once, and rewrites nothing', async () => {
      await onSchema((client) => bookBefore(client, 'old'));
      const file = await fileOf('request_log');
      const [first, second] = await Promise.all([testStore.open(), testStore.open()]);
      expect(await applied()).toEqual(new Set(migrations.map(({ name }) => name)));
      expect(await fileOf('request_log_before')).toBe(file);
      for (const store of [first, second])
        expect(
          await store.report('searchLog', { userId: 7, keyword: '', offset: 0, limit: 9 }),
        ).toMatchObject({ total: 1, entries: [{ request_id: 'old' }] });
    });

    test('leaves both versions writing, searching, sweeping and adding up side by side', async () => {
      await onSchema(async (old) => {
        expect(await bookBefore(old, 'old 1')).toBe(true);
        const store = await testStore.open();
        await store.run('addLogDays', { first: dayOf(start * 1000), last: dayOf(start * 1000) });
        expect(await bookBefore(old, 'old 1')).toBe(false);
        expect(await bookBefore(old, 'old 2')).toBe(true);
        expect(
          (await store.run('bookCalls', { calls: [book('new 1')] })).settlements.map(
            (one) => one?.charged ?? null,
          ),
        ).toEqual([5]);
        expect(await bookBefore(old, 'old 3')).toBe(true);
        expect(await found(old)).toEqual(['old 3', 'new 1', 'old 2', 'old 1']);
        const page = await store.report('searchLog', { userId: 7, keyword: '', offset: 0, limit: 9 });
        expect(page.entries.map(({ request_id: id }) => id)).toEqual(await found(old));
        expect((await old.query(before.end)).rows[0]?.id).toBe('4');
        expect(await problems()).toEqual([]);
        expect([await sweepBefore(old), await sweepBefore(old), await sweepBefore(old)]).toEqual([1, 1, 1]);
        expect(await found(old)).toEqual(['old 3']);
        expect(await store.run('sweepLog', { closedBefore: start * 1000 + 1e6, limit: 9 })).toBe(1);
        expect(await problems()).toEqual([]);
      });
    });

    test('leaves both versions closing the same reservations, each once, and sweeping them', async () => {
      const store = await testStore.open();
      const [at, day] = [start * 1000, dayOf(start * 1000)];
      await store.run('addLogDays', { first: day, last: day });
      const token = await makeToken(store, { remainQuota: 1_000 });
      const reserve = (requestId: string) =>
        store.run('reserve', {
          requestId,
          tokenId: token.id,
          userId: token.userId,
          model: 'm',
          unit: 'u',
          amount: 10,
          kind: 'request',
          gateway: 'gone',
          now: at,
        });
      await onSchema(async (old) => {
        for (let round = 0; round < 10; round += 1) {
          const requestId = `r${round}`;
          await reserve(requestId);
          // In every other round it was given back before, by the one version or the other.
          if (round % 4 === 1) await store.run('freeOrphans', { now: at, dueNow: 1 });
          if (round % 4 === 3)
            for (const { reserved } of (await old.query(closing.refundOrphans, [at])).rows)
              await old.query(closing.adjust, [reserved, 0, token.id]);
          const [before, settled, refunded] = await Promise.all([
            settleBefore(old, requestId, 4),
            store.run('settle', { requestId, charged: 5, log: logEntry, now: at }),
            store.run('refund', { requestId, log: logEntry, now: at }),
          ]);
          expect([before, settled !== undefined, refunded].filter(Boolean), requestId).toHaveLength(1);
        }
        // And each of them alone, so that there are both kinds.
        await reserve('kept');
        expect(await settleBefore(old, 'kept', 4)).toBe(true);
        expect(await store.run('settle', { requestId: 'kept', charged: 5, log: logEntry, now: at })).toBe(
          undefined,
        );
        await reserve('gone');
        expect(await store.run('settle', { requestId: 'gone', charged: 5, log: logEntry, now: at })).toEqual({
          charged: 5,
          debt: 0,
        });
        expect(await settleBefore(old, 'gone', 4)).toBe(false);
        expect(await problems()).toEqual([]);
        await expectBalanced(store, token);
        const closedBefore = at + 2 * dayMs;
        expect(await store.run('dropLogDay', { day, closedBefore })).toBe('early');
        const swept = await store.run('sweepBooks', { closedBefore, limit: 99 });
        expect(await store.run('dropLogDay', { day, closedBefore })).toBe(12 - swept);
        expect(await problems()).toEqual([]);
      });
    });

    test('waits for who uses the log, and lets others use it meanwhile', { timeout: 60_000 }, async () => {
      await onSchema(async (reader) => {
        await reader.query('begin; select count(*) from request_log');
        const opened = testStore.open();
        await onSchema(async (old) => {
          await vi.waitFor(
            async () => {
              const { rows } = await old.query(`select 1 from pg_locks l join pg_class c on c.oid = l.relation
              where not l.granted and c.relnamespace = current_schema()::regnamespace`);
              expect(rows).not.toEqual([]);
            },
            { timeout: 30_000, interval: 20 },
          );
          expect(await bookBefore(old, 'meanwhile')).toBe(true);
        });
        expect(await applied()).not.toContain(firstNew);
        await reader.query('commit');
        await opened;
      });
      expect(await applied()).toContain('0032-log-by-day');
      expect(await problems()).toEqual([]);
    });

    test('that fails midway leaves the version before at work, and goes on later', async () => {
      await onSchema((client) => client.query('create table request_log_other (id integer)'));
      await expect(testStore.open()).rejects.toThrow(/request_log_other/);
      expect(await applied()).toContain('0031-log-undated');
      expect(await applied()).not.toContain('0032-log-by-day');
      await onSchema(async (old) => {
        expect(await bookBefore(old, 'old')).toBe(true);
        expect(await found(old)).toEqual(['old']);
        await old.query('drop table request_log_other');
      });
      await testStore.open();
      expect(await applied()).toContain('0032-log-by-day');
      expect(await problems()).toEqual([]);
    });
  },
);

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  const result = await work();
  await client.query('commit');
  return result;
}
