import type { Gateway } from '../http/gateway.ts';
import { requireReady } from '../http/readiness.ts';
import type { Settings } from '../settings/settings.ts';
import type { TraceSettings } from '../settings/traces.ts';
import type { OpenWork } from '../store/queries/open-work.ts';
import type { Metric } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  channelHealthy,
  configurationInfo,
  deliveryBacklog,
  deliveryLag,
  pollLag,
  tasksOpen,
} from '../telemetry/metrics.ts';
import { measureProcess } from '../telemetry/process-metrics.ts';
import { SingleFlightCache } from '../telemetry/single-flight-cache.ts';
import { type OperatorPort, openOperatorPort } from './operator-port.ts';

/** What tells the operator how the gateway does. */
export interface Operator {
  /** Address of `/metrics`, without a slash at the end; undefined: there is none. */
  url: string | undefined;
  /** What has been measured; empty where nothing is. */
  metrics(): Promise<readonly Metric[]>;
  /** From now on the gateway itself says whether it is ready, and what it has to do. */
  started(gateway: Gateway): void;
  close(): Promise<void>;
}

/**
 * Opens the operator's port and sends spans away, if it is to. What is loaded for that is loaded here. A worker has no port
 * of its own: it is asked by who has.
 *
 * @throws SettingsError when the port cannot be opened.
 */
export async function startOperator(
  { metrics, traces }: Pick<Settings, 'metrics' | 'traces'>,
  logger: Logger,
  isWorker: boolean,
): Promise<Operator> {
  const measured = metrics === undefined ? undefined : await measure();
  const collect = async () => measured?.collect() ?? [];
  let gateway: Gateway | undefined;
  const watched: (() => void)[] = [];
  const ready = async () => {
    if (gateway === undefined) throw new Error('The gateway starts.');
    await requireReady(gateway);
  };
  const port =
    metrics === undefined || isWorker
      ? undefined
      : await openPort(metrics, { collect, ready }).catch(async (error: unknown) => {
          await measured?.stop();
          throw error;
        });
  const stopSpans = traces === undefined ? async () => {} : await sendSpans(traces, logger);
  return {
    url: port?.url,
    metrics: collect,
    started(running) {
      gateway = running;
      if (measured !== undefined)
        watched.push(watchChannels(running), watchConfiguration(running), watchOpenWork(running));
    },
    async close() {
      await port?.close();
      for (const unwatch of watched) unwatch();
      await measured?.stop();
      await stopSpans();
    },
  };
}

async function sendSpans(traces: TraceSettings, logger: Logger): Promise<() => Promise<void>> {
  const { exportSpans } = await import('./span-export.ts');
  return exportSpans(traces, (message) => logger.warn({ reason: message }, 'spans could not be sent'));
}

/** Has everything measured that happens in this process. */
export async function measure(): Promise<{
  collect(): Promise<readonly Metric[]>;
  stop(): Promise<void>;
}> {
  const { MetricCollector } = await import('../telemetry/metric-collector.ts');
  const metrics = new MetricCollector();
  const unwatch = measureProcess();
  return {
    collect: () => metrics.collect(),
    async stop() {
      unwatch();
      await metrics.stop();
    },
  };
}

/** @throws SettingsError when the port cannot be opened. */
export async function openPort(
  place: { host: string; port: number },
  { collect, ready }: { collect: () => Promise<readonly Metric[]>; ready: () => Promise<void> },
): Promise<OperatorPort> {
  const { openMetrics } = await import('../telemetry/exposition.ts');
  const metrics = async () => openMetrics({ 'service.name': 'unigate' }, await collect());
  return openOperatorPort(place, { metrics, ready });
}

function watchChannels({ channels }: Gateway): () => void {
  return channelHealthy.addCallback(() =>
    channels.all.map(({ name, health }) => [health.isHealthy ? 1 : 0, { 'unigate.channel': name }]),
  );
}

function watchConfiguration(gateway: Gateway): () => void {
  return configurationInfo.addCallback(() => [
    [1, { 'unigate.configuration.revision': gateway.settings.revision }],
  ]);
}

/** A scrape asks for figures of the store that are no older than this, in milliseconds. */
const workAgeMs = 5_000;
/** Then it waits so long; while the store does not answer, its figures are left out. */
const workPatienceMs = 1_000;

function watchOpenWork({ store, timers }: Gateway): () => void {
  const work = new SingleFlightCache<OpenWork>({
    load: () => store.report('countOpenWork', undefined),
    maxAgeMs: workAgeMs,
    timeoutMs: workPatienceMs,
    now: timers.monotonic,
  });
  const late = (dueAt: number | null) => (dueAt === null ? 0 : Math.max(0, timers.monotonic() - dueAt) / 1e3);
  const told = async <Reading>(read: (figures: OpenWork) => Reading[]): Promise<Reading[]> => {
    const figures = await work.get();
    return figures === undefined ? [] : read(figures);
  };
  const stops = [
    tasksOpen.addCallback(() =>
      told(({ tasks }) =>
        Object.entries(tasks).map(([state, count]) => [count, { 'unigate.task.state': state }] as const),
      ),
    ),
    pollLag.addCallback(() => told(({ taskDueAt }) => [[late(taskDueAt)] as const])),
    deliveryBacklog.addCallback(() => told(({ deliveries }) => [[deliveries] as const])),
    deliveryLag.addCallback(() => told(({ deliveryDueAt }) => [[late(deliveryDueAt)] as const])),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
