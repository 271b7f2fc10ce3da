import { flushCompileCache } from 'node:module';
import { createLogger, Secrets } from './runtime/logger.ts';
import { startFailure } from './runtime/start-failure.ts';
import { type RunningGateway, serve } from './serve.ts';
import { readSettings, secretsIn } from './settings/settings.ts';

try {
  const secrets = new Secrets();
  const read = () => {
    const settings = readSettings(process.env);
    secrets.add(secretsIn(settings));
    return settings;
  };
  const settings = read();
  const starting = serve(settings, createLogger(settings.logLevel, secrets), undefined, undefined, read);
  // Without a file to read again, the signal ends the process as ever: its terminal has gone.
  if (process.env.CONFIG || process.env.TLS_CERT) process.on('SIGHUP', () => void reload(starting));
  const running = await starting;
  if (running.newKey !== undefined) console.log(`your API key, shown only now: ${running.newKey}`);
  console.log(`listening on ${running.url}`);
  // One that is killed would not leave what it has compiled to the next.
  flushCompileCache();
  void running.failed.then(fail);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(running));
} catch (error) {
  console.error(startFailure(error));
  process.exitCode = 1;
}

/** What is under way is as it would be after a kill: the next start sees to it. */
function fail(reason: Error): never {
  console.error(`the gateway ends, since its store has failed: ${startFailure(reason)}`);
  process.exit(1);
}

/** Drains and exits with 0; a second signal ends the process at once. */
async function stop(running: RunningGateway): Promise<void> {
  await running.close();
  process.exit(0);
}

/** What comes of it stands in the log. */
async function reload(starting: Promise<RunningGateway>): Promise<void> {
  const running = await starting.catch(() => undefined);
  await running?.gateway.liveSettings.reload().catch(() => {});
}
