import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLogger } from '../../server/telemetry/logger.ts';
import { makeKey, post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { databaseUrl, engines, onServer } from './engines.ts';
import { hasPgBouncer, PgBouncer } from './pgbouncer.ts';

const speech = { model: 'voxa-v3-flash', voice: 'voxanna', response_format: 'mp3', input: 'Twelve chars' };
const schema = `test_${randomUUID().replaceAll('-', '')}`;

describe.runIf(engines.includes('postgres') && hasPgBouncer)(
  'a gateway behind PgBouncer in transaction mode',
  { timeout: 60_000 },
  () => {
    let pooler: PgBouncer;
    let target: TestGateway;
    const errors: string[] = [];

    beforeAll(async () => {
      await onServer((client) => client.query(`create schema ${schema}`));
      // Fewer connections than a gateway opens, so that each transaction gets any of them.
      pooler = await PgBouncer.start(schema, 3);
      const direct = new URL(databaseUrl);
      direct.searchParams.set('options', `-csearch_path=${schema}`);
      const addresses = { databaseUrl: pooler.url, databaseListenUrl: direct.href };
      const logger = createLogger('error', [], { write: (line) => void errors.push(line) });
      target = await startTestGateway(addresses, 'sqlite', Date.now, logger);
    }, 60_000);
    afterAll(async () => {
      await target?.close();
      await pooler?.remove();
      await onServer((client) => client.query(`drop schema ${schema} cascade`));
    });

    const speak = async (key: string) => {
      const reply = await post(target.url, key, '/v1/audio/speech', speech);
      await reply.arrayBuffer();
      return reply.status;
    };

    test('charges concurrent calls once each, without errors of prepared statements', async () => {
      const { key, id } = await makeKey(target, { quota: 12 * 30 });
      const statuses = await Promise.all(Array.from({ length: 40 }, () => speak(key)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(30);
      expect(new Set(statuses)).toEqual(new Set([200, 403]));
      const { read } = target.gateway.store;
      await vi.waitFor(async () => {
        const logged = await read
          .selectFrom('request_log')
          .select(({ fn }) => fn.sum<number>('quota').as('quota'))
          .where('token_id', '=', id)
          .executeTakeFirst();
        expect(logged?.quota).toBe(12 * 30);
      });
      expect(errors).toEqual([]);
    });

    test('is notified over DATABASE_LISTEN_URL when a key is revoked', async () => {
      const { key, id } = await makeKey(target, { quota: 1_000 });
      expect(await speak(key)).toBe(200);
      await vi.waitFor(() => expect(target.gateway.store.changeFeed?.epoch).toBeDefined());
      await onServer((client) => client.query(`update ${schema}.tokens set status = 2 where id = ${id}`));
      // Without the notification, the cached key would be valid for 30 s.
      await vi.waitFor(async () => expect(await speak(key)).toBe(401), { timeout: 10_000 });
    });

    test('continues when PgBouncer is killed and starts again, and the ledger balances', async () => {
      const { key } = await makeKey(target, { quota: 1_000_000 });
      const during = Array.from({ length: 20 }, () => speak(key));
      await pooler.kill();
      for (const status of await Promise.all(during)) expect([200, 503]).toContain(status);
      await pooler.launch();
      await vi.waitFor(async () => expect(await speak(key)).toBe(200), { timeout: 30_000 });
      await vi.waitFor(async () => expect((await fetch(`${target.url}/readyz`)).status).toBe(200), {
        timeout: 30_000,
      });
      const audit = await target.gateway.store.report('auditLedger', null);
      expect(audit.problems).toEqual([]);
    });
  },
);
