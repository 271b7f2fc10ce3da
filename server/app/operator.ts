import packageJson from '../../package.json' with { type: 'json' };
import { limitNames } from '../channels/limits.ts';
import type { Gateway } from '../http/gateway.ts';
import { requireReady } from '../http/readiness.ts';
import type { ChannelLimits, Settings } from '../settings/settings.ts';
import type { TraceSettings } from '../settings/traces.ts';
import type { OpenWork } from '../store/queries/open-work.ts';
import type { Metric, TextFormat } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  buildInfo,
  channelCalls,
  channelHealthy,
  channelLimit,
  channelSpending,
  configurationInfo,
  deliveryBacklog,
  deliveryLag,
  lastReloadSuccessful,
  pollLag,
  taskQueueDepth,
  tasksOpen,
} from '../telemetry/metrics.ts';
import { measureProcess } from '../telemetry/process-metrics.ts';
import { SingleFlightCache } from '../telemetry/single-flight-cache.ts';
import { type OperatorPort, openOperatorPort } from './operator-port.ts';

const { version } = packageJson;

/** Monitoring of a gateway: metrics, readiness and traces. */
export interface Operator {
  /** Address of the operator's port, without a trailing slash. Undefined: there is none. */
  url: string | undefined;
  /** Current metrics. Empty when metrics are off. */
  metrics(): Promise<readonly Metric[]>;
  /** Reports the state of a started gateway. */
  observe(gateway: Gateway): void;
  close(): Promise<void>;
}

/**
 * Opens the operator's port and exports spans, as configured. Workers have no port: their parent process collects their
 * metrics. The modules for both are loaded only if they are used.
 *
 * @throws SettingsError when the port cannot be opened
 */
export async function startOperator(
  { metrics, traces }: Pick<Settings, 'metrics' | 'traces'>,
  logger: Logger,
  isWorker: boolean,
): Promise<Operator> {
  const collector = metrics === undefined ? undefined : await startMetrics();
  const collect = async () => collector?.collect() ?? [];
  let gateway: Gateway | undefined;
  let stopGauges = () => {};
  const ready = async () => {
    if (gateway === undefined) throw new Error('The gateway is starting.');
    await requireReady(gateway);
  };
  const port =
    metrics === undefined || isWorker
      ? undefined
      : await openPort(metrics, { collect, ready }).catch(async (error: unknown) => {
          await collector?.stop();
          throw error;
        });
  const stopSpans = traces === undefined ? async () => {} : await startSpanExport(traces, logger);
  return {
    url: port?.url,
    metrics: collect,
    observe(started) {
      gateway = started;
      if (collector !== undefined) stopGauges = addGauges(started);
    },
    async close() {
      await port?.close();
      stopGauges();
      await collector?.stop();
      await stopSpans();
    },
  };
}

async function startSpanExport(traces: TraceSettings, logger: Logger): Promise<() => Promise<void>> {
  const { exportSpans } = await import('./span-export.ts');
  return exportSpans(traces, (message) => logger.warn({ reason: message }, 'spans could not be sent'));
}

/** Starts to collect the metrics of this process. */
export async function startMetrics(): Promise<{
  collect(): Promise<readonly Metric[]>;
  stop(): Promise<void>;
}> {
  const { MetricCollector } = await import('../telemetry/metric-collector.ts');
  const metrics = new MetricCollector();
  const stopProcessMetrics = measureProcess();
  return {
    collect: () => metrics.collect(),
    async stop() {
      stopProcessMetrics();
      await metrics.stop();
    },
  };
}

/** @throws SettingsError when the port cannot be opened */
export async function openPort(
  address: { host: string; port: number },
  { collect, ready }: { collect: () => Promise<readonly Metric[]>; ready: () => Promise<void> },
): Promise<OperatorPort> {
  const { metricsText } = await import('../telemetry/exposition.ts');
  const resource = { 'service.name': 'unigate', 'service.version': version };
  const metrics = async (format: TextFormat) => metricsText(format, resource, await collect());
  return openOperatorPort(address, { metrics, ready });
}

/** Figures of the store in a scrape are at most this old. */
const maxAgeMs = 5_000;
/** A scrape omits the figures of the store if it does not respond within this time. */
const timeoutMs = 1_000;

/** Adds gauges of the gateway's state. Returns a function that removes them. */
function addGauges(gateway: Gateway): () => void {
  const { channels, store, timers } = gateway;
  const now = timers.monotonic;
  const load = () => store.report('countOpenWork', undefined);
  const openWork = new SingleFlightCache<OpenWork>({ load, maxAgeMs, timeoutMs, now });
  const lagOf = (dueAt: number | null) => (dueAt === null ? 0 : Math.max(0, now() - dueAt) / 1e3);
  const fromStore = async <Reading>(read: (work: OpenWork) => Reading[]): Promise<Reading[]> => {
    const work = await openWork.get();
    return work === undefined ? [] : read(work);
  };
  const stops = [
    channelHealthy.addCallback(() =>
      channels.all.map(({ name, health }) => [health.isHealthy ? 1 : 0, { 'unigate.channel': name }]),
    ),
    buildInfo.addCallback(() => [
      [1, { 'service.version': version, 'process.runtime.version': process.versions.node }],
    ]),
    channelLimit.addCallback(() =>
      channels.all.flatMap(({ name, limiter }) =>
        Object.entries(limiter.limits).flatMap(([limit, max]) =>
          max === undefined
            ? []
            : [
                [
                  max,
                  { 'unigate.channel': name, 'unigate.limit': limitNames[limit as keyof ChannelLimits] },
                ] as const,
              ],
        ),
      ),
    ),
    channelCalls.addCallback(() =>
      channels.all.map(({ name, limiter }) => [limiter.calls, { 'unigate.channel': name }]),
    ),
    channelSpending.addCallback(() =>
      channels.all.flatMap(({ name, limiter: { spentToday } }) =>
        spentToday === undefined ? [] : [[spentToday, { 'unigate.channel': name }] as const],
      ),
    ),
    configurationInfo.addCallback(() => [
      [1, { 'unigate.configuration.revision': gateway.settings.revision }],
    ]),
    lastReloadSuccessful.addCallback(() => [[gateway.liveSettings.hasReloadFailed ? 0 : 1]]),
    tasksOpen.addCallback(() =>
      fromStore(({ tasks }) =>
        Object.entries(tasks).map(([state, count]) => [count, { 'unigate.task.state': state }] as const),
      ),
    ),
    taskQueueDepth.addCallback(() => fromStore(({ waiting }) => [[waiting] as const])),
    pollLag.addCallback(() => fromStore(({ taskDueAt }) => [[lagOf(taskDueAt)] as const])),
    deliveryBacklog.addCallback(() => fromStore(({ deliveries }) => [[deliveries] as const])),
    deliveryLag.addCallback(() => fromStore(({ deliveryDueAt }) => [[lagOf(deliveryDueAt)] as const])),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
