import cluster from 'node:cluster';
import { reportChannel } from '../../channels/channel-report.ts';
import type { Siblings } from '../../http/gateway.ts';
import { requireReady } from '../../http/readiness.ts';
import type { Settings } from '../../settings/settings.ts';
import { createLogger, type Secrets } from '../../telemetry/logger.ts';
import { type RunningGateway, serve } from '../serve.ts';
import { startFailure } from '../start-failure.ts';
import { Link } from './link.ts';
import type { ToPrimary, ToWorker } from './questions.ts';

/**
 * Runs this process as one of several that share a port, for as long as it is told to: it stops as it is asked to, by
 * a signal of its own, and when the process that started it is gone.
 */
export async function runWorker(read: () => Settings, secrets: Secrets): Promise<void> {
  const starting = Promise.withResolvers<RunningGateway>();
  // Told below; who asks meanwhile waits.
  starting.promise.catch(() => {});
  const link = new Link<ToPrimary, ToWorker>(post, {
    stop: () => void stop(),
    alive: () => {},
    reload: async () => void (await (await starting.promise).gateway.liveSettings.reload().catch(() => {})),
    ready: async () => reasonOf(requireReady((await starting.promise).gateway)),
    metrics: async () => (await starting.promise).metrics(),
    channels: async () => (await starting.promise).gateway.channels.all.map(reportChannel),
  });
  process.on('message', (message) => link.receive(message));
  let running: RunningGateway | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await (await starting.promise).close();
    process.exit(0);
  };
  // Otherwise `node:cluster` would end this process as soon as the other one is gone.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => {
    link.close();
    // Calls that run are finished, if there can be any.
    if (running === undefined) process.exit(1);
    void stop();
  });
  try {
    const { number, ...place } = await link.ask('begin', undefined);
    const settings = read();
    const logger = createLogger(settings.logLevel, secrets, undefined, number);
    const siblings = siblingsOver(link);
    running = await serve(settings, logger, { read, place: { ...place, siblings } });
    starting.resolve(running);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
    process.on('SIGHUP', () => {});
    await link.ask('serves', running.url);
  } catch (error) {
    starting.reject(error);
    await link.ask('cannot', startFailure(error)).catch(() => {});
    process.exit(1);
  }
}

/** One that cannot be delivered has nobody to go to. */
function post(message: unknown): void {
  process.send?.(message, undefined, undefined, () => {});
}

/** Longest wait for the other workers to report whether they are ready, in milliseconds. */
const readyMs = 3_000;

function siblingsOver(link: Link<ToPrimary, ToWorker>): Siblings {
  return {
    // Without the process that started it, a worker is alone.
    isAnyReady: () => link.ask('isAnotherReady', undefined, readyMs).catch(() => false),
    reload: () => link.ask('reloadOthers', undefined),
    channels: () => link.ask('othersChannels', undefined),
  };
}

async function reasonOf(readiness: Promise<void>): Promise<string | undefined> {
  return readiness.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : 'not ready'),
  );
}
