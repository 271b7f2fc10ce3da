import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { ServerProcess } from './processes.ts';

export const gatewayKey = 'sk-benchmark-0123456789abcdef';

/** The options of Node that `npm start` gives. */
const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

export interface RunningGateway {
  server: ServerProcess;
  /**
   * Stops the gateway and reads its books, which must hold one settled row for each 200 answer, at the price of
   * its characters, and nothing else. Its folder is removed.
   *
   * @throws Error saying what is wrong with the books.
   */
  stop(expected: { answers: number; charged: number }): Promise<void>;
  /** Removes the folder, whatever happened. */
  remove(): Promise<void>;
}

/** Starts the gateway as an operator would, with `upstream` behind a channel of each of the protocols. */
export async function startGateway(
  main: string,
  upstream: string,
  profileFolder: string | undefined,
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
      nodeOptions:
        profileFolder === undefined
          ? startOptions
          : [...startOptions, '--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
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
      await checkBooks({ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) }, expected);
      await remove();
    };
    return { server, stop, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function checkBooks(
  options: StoreOptions,
  expected: { answers: number; charged: number },
): Promise<void> {
  const store = await openStore(options);
  try {
    const { rows: states } = await sql<{ state: string; count: number; charged: number }>`
      select state, count(*) as count, sum(charged) as charged from (
        select state, null as charged from ledger
        union all select 'settled', quota from request_log
      ) as books group by state`.execute(store.read);
    const { rows: logs } = await sql<{ status: number; count: number }>`
      select status, count(*) as count from request_log group by status`.execute(store.read);
    const found = JSON.stringify({ ledger: states, log: logs });
    const wanted = JSON.stringify({
      ledger: [{ state: 'settled', count: expected.answers, charged: expected.charged }],
      log: [{ status: 200, count: expected.answers }],
    });
    if (found !== wanted) throw new Error(`the books are wrong: they hold ${found}, not ${wanted}`);
  } finally {
    await store.close();
  }
}
