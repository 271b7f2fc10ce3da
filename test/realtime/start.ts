import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, serve } from '../../server/app/serve.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { generateKey } from '../../server/store/keys.ts';
import { createLogger, type Logger } from '../../server/telemetry/logger.ts';
import type { TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';

export interface SocketGateway extends TestGateway {
  timers: ManualTimers;
  running: RunningGateway;
}

/** Starts a gateway without a sandbox, whose sockets use manual timers. */
export async function startSocketGateway(
  change: Partial<Settings> = {},
  logger?: Logger,
): Promise<SocketGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-sockets-'));
  const key = generateKey();
  const defaults = readSettings({ PORT: '0', BOOTSTRAP_KEY: key, LOG_LEVEL: 'silent' });
  const settings = { ...defaults, dataDir, sandbox: false, ...change };
  const timers = new ManualTimers();
  const running = await serve(settings, logger ?? createLogger(settings.logLevel), {
    clock: () => timers.now,
    timers,
  });
  return {
    url: running.url,
    key,
    gateway: running.gateway,
    timers,
    running,
    async close() {
      await running.close(0);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
