import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { ServerProcess } from './processes.ts';

export const gatewayKey = 'sk-benchmark-0123456789abcdef';

/** The Node options of `npm start`. */
export const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/**
 * Prevents V8 from freeing memory while a process waits between its rounds. Its next calls would use up to three times the CPU
 * for some seconds, probably because V8 also discards compiled code. Under constant load, that does not happen.
 */
export const noMemoryReducer = '--no-memory-reducer';

/** Returns the Node options that write a CPU profile to a folder. */
export function profileOptions(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

export interface RunningGateway {
  server: ServerProcess;
  /**
   * Stops the gateway, checks its ledger and removes its folder. The ledger must contain one settled row per 200 response, at
   * the price of its characters, and nothing else. `unchecked`: the ledger of another version may have another schema.
   *
   * @throws Error if the ledger differs
   */
  stop(expected: { responses: number; charged: number } | 'unchecked'): Promise<void>;
  /** Removes the folder in any case. */
  remove(): Promise<void>;
}

/** Starts the gateway with a channel to `upstream` for each protocol. `nodeOptions` are added to those of `npm start` and `noMemoryReducer`. */
export async function startGateway(
  main: string,
  upstream: string,
  nodeOptions: readonly string[] = [],
  protocols: readonly string[] = ['native'],
  environment: Readonly<Record<string, string>> = {},
  core: 'measured' | 'all' = 'measured',
): Promise<RunningGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-bench-'));
  const dataDir = join(folder, 'data');
  const config = join(folder, 'gateway.yaml');
  const channels = protocols.map((protocol) => ({
    name: protocol,
    protocol,
    base_url: upstream,
    key: 'x',
    models: ['*'],
    private_files: true,
  }));
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ sandbox: false, prices: { '*': 1 }, channels }));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const server = await ServerProcess.start({
      module: main,
      core,
      nodeOptions: [...startOptions, noMemoryReducer, ...nodeOptions],
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: dataDir,
        CONFIG: config,
        BOOTSTRAP_KEY: gatewayKey,
        LOG_LEVEL: 'warn',
        DATABASE_URL: '',
        PUBLIC_URL: '',
        TLS_CERT: '',
        TLS_KEY: '',
        METRICS_PORT: '',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
        ...environment,
      },
    });
    const stop: RunningGateway['stop'] = async (expected) => {
      await server.stop();
      const databaseUrl = environment.DATABASE_URL;
      if (expected !== 'unchecked')
        await checkLedger({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) }, expected);
      await remove();
    };
    return { server, stop, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function checkLedger(
  options: StoreOptions,
  expected: { responses: number; charged: number },
): Promise<void> {
  const store = await openStore(options);
  try {
    const { rows: states } = await sql<{ state: string; count: number; charged: number }>`
      select state, count(*) as count, sum(charged) as charged from (
        select state, null as charged from ledger
        union all select 'settled', quota from request_log
      ) as entries group by state`.execute(store.read);
    const { rows: logs } = await sql<{ status: number; count: number }>`
      select status, count(*) as count from request_log group by status`.execute(store.read);
    const actualJson = JSON.stringify({ ledger: states, log: logs });
    const expectedJson = JSON.stringify({
      ledger: [{ state: 'settled', count: expected.responses, charged: expected.charged }],
      log: [{ status: 200, count: expected.responses }],
    });
    if (actualJson !== expectedJson)
      throw new Error(`the ledger contains ${actualJson} instead of ${expectedJson}`);
  } finally {
    await store.close();
  }
}
