import { SettingsError } from './configuration.ts';
import { createLogger } from './logger.ts';
import { type RunningGateway, serve } from './serve.ts';
import { readSettings, secretsIn } from './settings.ts';
import { StoreUnavailable } from './store/unavailable.ts';

try {
  const settings = readSettings(process.env);
  const logger = createLogger(settings.logLevel, secretsIn(settings));
  const running = await serve(settings, logger);
  if (running.newKey !== undefined) console.log(`your API key, shown only now: ${running.newKey}`);
  console.log(`listening on ${running.url}`);
  void running.failed.then(fail);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(running));
} catch (error) {
  const told = error instanceof SettingsError ? error.message : explain(error);
  console.error(told);
  process.exitCode = 1;
}

/** What is under way is as it would be after a kill: the next start sees to it. */
function fail(reason: Error): never {
  console.error(`the gateway ends, since its store has failed: ${explain(reason)}`);
  process.exit(1);
}

/** Drains and exits with 0; a second signal ends the process at once. */
async function stop(running: RunningGateway): Promise<void> {
  await running.close();
  process.exit(0);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (error instanceof StoreUnavailable) return `the database does not answer: ${reasonOf(error.cause)}`;
  if (code === 'EADDRINUSE')
    return 'PORT: the address is in use; stop the other program or set another PORT.';
  return error.stack ?? error.message;
}

/** One line: an error of several addresses has its words in its parts. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
