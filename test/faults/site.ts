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
import { createLogger } from '../../server/telemetry/logger.ts';
import { databaseUrl, type Engine, onServer } from '../store/engines.ts';
import type { GatewayOptions } from './gateway-process.ts';

/** Stored data, and an upstream that outlives the gateways which are killed. */
export interface Site {
  options: GatewayOptions;
  /** A key with limited quota, and its record as it was made. */
  key: string;
  token: TokenRecord;
  /** Runs `work` while time stands still for the upstream: until it ends, no task there leaves its queue. */
  atUpstreamStandstill<T>(work: () => Promise<T>): Promise<T>;
  /** Starts a gateway on the same data in this process. */
  serve(): Promise<RunningGateway>;
  /** As when the gateways that were killed have been missed by now, which takes some seconds on PostgreSQL. */
  releaseOrphans(): Promise<void>;
  remove(): Promise<void>;
}

/** Quota of the site's key. */
const quota = 1_000_000;
/** Milliseconds that the upstream takes for a task. */
const taskTime = 500;

/** `server`: address of the PostgreSQL database to make a schema in. */
export async function makeSite(engine: Engine, server = databaseUrl): Promise<Site> {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-faults-'));
  const schema = `test_${randomUUID().replaceAll('-', '')}`;
  const database = new URL(server);
  database.searchParams.set('options', `-csearch_path=${schema}`);
  const run = (sql: string) => onServer((client) => client.query(sql), server);
  if (engine === 'postgres') await run(`create schema ${schema}`);
  const stored = engine === 'postgres' ? { databaseUrl: database.href } : {};
  let stoodAt: number | undefined;
  const sandbox = await startSandbox({
    key: generateKey(),
    taskTime,
    draft: true,
    songSeconds: 2,
    now: () => stoodAt ?? Date.now(),
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
  const names = { name: 'a key', keyHash: hashKey(key), keyHint: keyHint(key) };
  const token = await store.run('createToken', { userId: user.id, ...names, remainQuota: quota, now: 1 });
  await store.close();
  return {
    options: { dataDir, config, ...stored },
    key,
    token,
    async atUpstreamStandstill(work) {
      stoodAt = Date.now();
      try {
        return await work();
      } finally {
        stoodAt = undefined;
      }
    },
    serve: () => {
      const settings = readSettings({ PORT: '0', DATA_DIR: dataDir, CONFIG: config, LOG_LEVEL: 'silent' });
      return serve({ ...settings, ...stored }, createLogger('silent'));
    },
    async releaseOrphans() {
      if (engine === 'postgres') await run(`delete from ${schema}.gateways`);
    },
    async remove() {
      await sandbox.close();
      await rm(dataDir, { recursive: true });
      if (engine === 'postgres') await run(`drop schema ${schema} cascade`);
    },
  };
}
