import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { releaseMemory } from '../lib/release-memory.ts';
import { findWarnings } from '../providers/price-values.ts';
import { readSettings, secretsIn } from '../settings/settings.ts';
import { createLogger, Secrets } from '../telemetry/logger.ts';
import { startFailure } from './start-failure.ts';
import { workerArgument } from './workers/rpc-methods.ts';

/** A gateway, in one process or in several. */
interface Running {
  url: string;
  newKey: string | undefined;
  /** Resolves with the reason when the process must end. */
  failed: Promise<Error>;
  /** The message for that case. */
  failure: string;
  /** Whether this process itself serves requests. */
  isServer: boolean;
  reload(): Promise<unknown>;
  close(): Promise<void>;
}

const builtConsole = new URL('../../generated/site/console/', import.meta.url);
const secrets = new Secrets();
const read = () => {
  const settings = readSettings(process.env, findWarnings);
  secrets.add(secretsIn(settings));
  return settings;
};

if (process.argv[2] === workerArgument) {
  const { runWorker } = await import('./workers/worker.ts');
  await runWorker(read, secrets);
  setImmediate(() => void finishStart(true));
} else await run();

async function run(): Promise<void> {
  try {
    const starting = start();
    // Without a file to reload, SIGHUP ends the process as usual.
    if (process.env.CONFIG || process.env.TLS_CERT) process.on('SIGHUP', () => void reload(starting));
    const running = await starting;
    if (running.newKey !== undefined) console.log(`your API key, shown only now: ${running.newKey}`);
    // An installation without development packages has no console.
    if (existsSync(builtConsole)) console.log(`console: ${running.url}/console`);
    console.log(`listening on ${running.url}`);
    setImmediate(() => void finishStart(running.isServer));
    void running.failed.then((reason) => fail(running.failure, reason));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(running));
  } catch (error) {
    console.error(startFailure(error));
    process.exitCode = 1;
  }
}

/** Loads only the modules of this process's own role. */
async function start(): Promise<Running> {
  const settings = read();
  const logger = createLogger(settings.logLevel, secrets);
  if (settings.workers > 1) {
    const { startWorkers } = await import('./workers/primary.ts');
    const workers = await startWorkers(settings, logger);
    return { ...workers, failure: 'its workers do not start', isServer: false };
  }
  const { serve } = await import('./serve.ts');
  const running = await serve(settings, logger, { read });
  const reload = () => running.gateway.liveSettings.reload();
  return { ...running, reload, failure: 'its store has failed', isServer: true };
}

/**
 * Loads what the first request needs, and returns the memory that only the start needed. Runs after the start, so that the gateway
 * listens sooner.
 */
async function finishStart(isServer: boolean): Promise<void> {
  if (isServer) {
    const { openApiBundle } = await import('../http/contract-documents.ts');
    const { loadRequestChecks } = await import('../http/validate-request.ts');
    loadRequestChecks(openApiBundle);
  }
  // Node writes the cache at exit, which does not happen if the process is killed.
  flushCompileCache();
  releaseMemory();
}

/** Ends the process as a kill would. The next start recovers unfinished work. */
function fail(failure: string, reason: Error): never {
  console.error(`the gateway ends, because ${failure}: ${startFailure(reason)}`);
  process.exit(1);
}

/** Drains and exits with 0; a second signal ends the process at once. */
async function stop(running: Running): Promise<void> {
  const isClean = await running.close().then(
    () => true,
    (error: unknown) => {
      console.error(startFailure(error));
      return false;
    },
  );
  process.exit(isClean ? 0 : 1);
}

/** Reloads the settings. The log shows the result. */
async function reload(starting: Promise<Running>): Promise<void> {
  const running = await starting.catch(() => undefined);
  await running?.reload().catch(() => {});
}
