import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../server/app/serve.ts';
import type { Gateway } from '../../server/http/gateway.ts';
import { systemTimers, type Timers } from '../../server/lib/timers.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { generateKey } from '../../server/store/keys.ts';
import { createLogger, type Logger } from '../../server/telemetry/logger.ts';
import { databaseUrl, type Engine, onServer } from '../store/engines.ts';

export interface TestGateway {
  url: string;
  /** An unlimited key of group `default`. */
  key: string;
  gateway: Gateway;
  operatorUrl?: string | undefined;
  close(): Promise<void>;
}

/** Duration of a sandbox task in milliseconds. Long enough that a poll sees the task in progress. */
const taskTimeMs = 400;
/** Short poll intervals, so that a test waits only for the task itself. */
const timing = { firstPollMs: 100, maxPollMs: 500, readFreshMs: 250, idleMs: 250 };
/** Short enough to be generated during a test. */
const songSeconds = 2;

/**
 * Starts a gateway with its sandbox on a free port. Its store is in a temporary folder or in a new PostgreSQL schema.
 * `change` overrides settings. The sandbox renders drafts.
 */
export async function startTestGateway(
  change: Partial<Settings> = {},
  engine: Engine = 'sqlite',
  clock: () => number = Date.now,
  logger?: Logger,
  timers: Timers = systemTimers,
): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-'));
  const key = generateKey();
  const defaults = readSettings({ PORT: '0', BOOTSTRAP_KEY: key, LOG_LEVEL: 'silent' });
  const schema = `test_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-csearch_path=${schema}`);
  if (engine === 'postgres') await onServer((client) => client.query(`create schema ${schema}`));
  const stored = engine === 'postgres' ? { databaseUrl: url.href } : {};
  const settings = {
    ...defaults,
    sandboxTaskMs: taskTimeMs,
    sandboxDraft: true,
    sandboxSongSeconds: songSeconds,
    dataDir,
    ...stored,
    ...change,
  };
  const running = await serve(settings, logger ?? createLogger(settings.logLevel), { clock, timers, timing });
  return {
    url: running.url,
    key,
    gateway: running.gateway,
    operatorUrl: running.operatorUrl,
    async close() {
      await running.close(1_000);
      await rm(dataDir, { recursive: true, force: true });
      if (engine === 'postgres') await onServer((client) => client.query(`drop schema ${schema} cascade`));
    },
  };
}
