import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, serve } from '../../server/app/serve.ts';
import { startSandbox } from '../../server/sandbox/sandbox.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { databaseFile, openReader } from '../../server/store/sqlite/connection.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { databaseUrl, type Engine, onServer } from '../store/engines.ts';
import { makeAccount } from '../store/ledger.ts';
import type { GatewayOptions } from './gateway-process.ts';

/** A data folder or database, and an upstream, that outlive killed gateways. */
export interface Deployment {
  options: GatewayOptions;
  /** A key with limited quota, and its record at creation. */
  key: string;
  token: TokenRecord;
  /** The user who pays: that of the key, or the customer of its sub-account. */
  payerId: number;
  /** Runs `work` with the clock of the upstream stopped, so that its tasks stay queued. */
  withFrozenUpstream<T>(work: () => Promise<T>): Promise<T>;
  /** Starts a gateway on the same data in this process. */
  serve(): Promise<RunningGateway>;
  /** Makes the killed gateways count as lost at once. On PostgreSQL this otherwise takes some seconds. */
  releaseOrphans(): Promise<void>;
  /** Counts the open reservations of calls in the ledger, also while a gateway runs. */
  countOpenCalls(): Promise<number>;
  remove(): Promise<void>;
}

/** Quota of the key, and of the wallet. */
export const startQuota = 1_000_000;
/** Duration of an upstream task. */
const taskTimeMs = 500;

/**
 * Creates a deployment. `server` is the URL of the PostgreSQL database that gets a schema for it. With `wallet`, the key draws from a
 * wallet of its user. With `account` too, it is one of a sub-account of that user.
 */
export async function createDeployment(
  engine: Engine,
  {
    server = databaseUrl,
    wallet = false,
    account = false,
  }: { server?: string; wallet?: boolean; account?: boolean } = {},
): Promise<Deployment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-faults-'));
  const schema = `test_${randomUUID().replaceAll('-', '')}`;
  const database = new URL(server);
  database.searchParams.set('options', `-csearch_path=${schema}`);
  const run = (sql: string) => onServer((client) => client.query(sql), server);
  if (engine === 'postgres') await run(`create schema ${schema}`);
  const stored = engine === 'postgres' ? { databaseUrl: database.href } : {};
  let frozenAt: number | undefined;
  const sandbox = await startSandbox({
    key: generateKey(),
    taskDurationMs: taskTimeMs,
    draft: true,
    songSeconds: 2,
    now: () => frozenAt ?? Date.now(),
  });
  const config = join(dataDir, 'gateway.yaml');
  const channels = ['native', 'official', 'eta', 'imgjob', 'sigma', 'embeddings', 'messages'].map(
    (protocol) => ({
      name: protocol,
      protocol,
      base_url: sandbox.url,
      key: sandbox.key,
      models: ['*'],
      private_files: true,
    }),
  );
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ sandbox: false, prices: { '*': 10 }, channels }));
  const key = generateKey();
  const store = await openStore({ dataDir, ...stored });
  const user = await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
  if (wallet) {
    const grant = { userId: user.id, amount: startQuota, reason: 'paid', reference: 'payment' };
    const change = { userId: 1, tokenId: 1, action: 'grantToWallet', now: 1 };
    await store.run('grantToWallet', { ...grant, change });
  }
  const owner = account ? await makeAccount(store, user.id) : user.id;
  const names = { name: 'a key', keyHash: hashKey(key), keyHint: keyHint(key) };
  const token = await store.run('createToken', { userId: owner, ...names, remainQuota: startQuota, now: 1 });
  await store.close();
  return {
    options: { dataDir, config, ...stored },
    key,
    token,
    payerId: user.id,
    async withFrozenUpstream(work) {
      frozenAt = Date.now();
      try {
        return await work();
      } finally {
        frozenAt = undefined;
      }
    },
    serve: () => {
      const settings = readSettings({ PORT: '0', DATA_DIR: dataDir, CONFIG: config, LOG_LEVEL: 'silent' });
      return serve({ ...settings, ...stored }, createLogger('silent'));
    },
    async releaseOrphans() {
      if (engine === 'postgres') await run(`delete from ${schema}.gateways`);
    },
    async countOpenCalls() {
      const ledger = engine === 'postgres' ? `${schema}.ledger` : 'ledger';
      const open = `select 1 from ${ledger} where state = 'open' and kind = 'request'`;
      if (engine === 'postgres') return (await run(open)).rows.length;
      const reader = openReader(databaseFile(dataDir));
      try {
        return reader.prepare(open).all().length;
      } finally {
        reader.close();
      }
    },
    async remove() {
      await sandbox.close();
      await rm(dataDir, { recursive: true });
      if (engine === 'postgres') await run(`drop schema ${schema} cascade`);
    },
  };
}
