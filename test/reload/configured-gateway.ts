import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../server/app/serve.ts';
import { systemTimers, type Timers } from '../../server/lib/timers.ts';
import { findWarnings } from '../../server/providers/price-values.ts';
import { readSettings, secretsIn } from '../../server/settings/settings.ts';
import { generateKey } from '../../server/store/keys.ts';
import { createLogger, Secrets } from '../../server/telemetry/logger.ts';
import type { TestGateway } from '../support/gateway.ts';

export interface ConfiguredGateway extends TestGateway {
  /** Path of the configuration file. */
  file: string;
  /** A folder for files that the configuration names. */
  folder: string;
  /** Lines of the log so far. */
  log: string[];
  /** Stops the gateway and starts it again on the same data. */
  restart(): Promise<void>;
  /** Replaces the configuration. JSON is valid YAML. */
  write(configuration: object | string): Promise<void>;
}

/** Starts a gateway with a configuration file. */
export async function startConfigured(
  configuration: object,
  environment: Record<string, string> = {},
  timers: Timers = systemTimers,
): Promise<ConfiguredGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-reload-'));
  const file = join(folder, 'gateway.yaml');
  const write = (next: object | string) =>
    writeFile(file, typeof next === 'string' ? next : JSON.stringify(next, null, 1));
  await write(configuration);
  const key = generateKey();
  const stored = { PORT: '0', DATA_DIR: join(folder, 'data'), BOOTSTRAP_KEY: key, CONFIG: file };
  const log: string[] = [];
  const secrets = new Secrets();
  const read = () => {
    const settings = readSettings({ ...stored, ...environment }, findWarnings);
    secrets.add(secretsIn(settings));
    return settings;
  };
  const logger = createLogger('debug', secrets, { write: (line) => void log.push(line) });
  const start = () => serve(read(), logger, { clock: timers.monotonic, timers, read });
  let running = await start();
  return {
    get url() {
      return running.url;
    },
    key,
    get gateway() {
      return running.gateway;
    },
    get operatorUrl() {
      return running.operatorUrl;
    },
    file,
    folder,
    log,
    write,
    async restart() {
      await running.close(1_000);
      running = await start();
    },
    async close() {
      await running.close(1_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the configuration of a channel. */
export function channelAt(url: string, change: object = {}): object {
  return { name: 'eu', protocol: 'native', base_url: url, key: 'upstream-key', models: ['*'], ...change };
}
