import cluster from 'node:cluster';
import { reportChannel } from '../../channels/channel-report.ts';
import { requireReady } from '../../http/readiness.ts';
import type { Settings } from '../../settings/settings.ts';
import { createLogger, type Secrets } from '../../telemetry/logger.ts';
import { reasonOf } from '../operator-port.ts';
import { type RunningGateway, serve } from '../serve.ts';
import { startFailure } from '../start-failure.ts';
import { RpcChannel } from './rpc-channel.ts';
import type { PrimaryMethods, WorkerMethods } from './rpc-methods.ts';

/** Longer than the timeout with which the primary calls the other workers. */
const readyTimeoutMs = 3_000;

/** Runs this process as a worker until the primary stops it or exits, or until SIGTERM or SIGINT. */
export async function runWorker(read: () => Settings, secrets: Secrets): Promise<void> {
  const starting = Promise.withResolvers<RunningGateway>();
  // The failure is reported below.
  starting.promise.catch(() => {});
  // Send errors are ignored: the primary has exited then.
  const post = (message: unknown) => void process.send?.(message, undefined, undefined, () => {});
  const rpc = new RpcChannel<PrimaryMethods, WorkerMethods>(post, {
    stop: () => void stop(),
    ping: () => {},
    reload: async () => void (await (await starting.promise).gateway.liveSettings.reload().catch(() => {})),
    endMaintenance: async () => void (await (await starting.promise).gateway.endMaintenance()),
    getUnreadyReason: async () => reasonOf(requireReady((await starting.promise).gateway)),
    collectMetrics: async () => (await starting.promise).metrics(),
    listChannels: async () => (await starting.promise).gateway.channels.all.map(reportChannel),
  });
  process.on('message', (message) => rpc.receive(message));
  let running: RunningGateway | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await (await starting.promise).close();
    process.exit(0);
  };
  // Otherwise `node:cluster` exits this process when the primary exits.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => {
    rpc.close();
    if (running === undefined) process.exit(1);
    void stop();
  });
  const siblings = {
    // Without its primary a worker is alone.
    isAnyReady: () => rpc.callWithin(readyTimeoutMs, 'isAnotherReady').catch(() => false),
    reload: () => rpc.call('reloadOthers'),
    endMaintenance: () => rpc.call('endMaintenanceOfOthers'),
    acquireRun: () => rpc.call('acquireRun'),
    releaseRun: () => rpc.call('releaseRun'),
    channels: () => rpc.call('listOtherChannels'),
  };
  try {
    const { number, ...place } = await rpc.call('getAssignment');
    const settings = read();
    const logger = createLogger(settings.logLevel, secrets, undefined, number);
    running = await serve(settings, logger, { read, place: { ...place, siblings } });
    starting.resolve(running);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
    process.on('SIGHUP', () => {});
    await rpc.call('reportServing', running.url);
  } catch (error) {
    starting.reject(error);
    await rpc.call('reportStartFailure', startFailure(error)).catch(() => {});
    process.exit(1);
  }
}
