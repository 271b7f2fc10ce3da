import type { Gateway } from './gateway.ts';
import { requireReady } from './operations/service/getReadiness.ts';
import type { Logger } from './runtime/logger.ts';
import type { Settings } from './settings/settings.ts';
import type { TraceSettings } from './settings/traces.ts';
import type { OpenWork } from './store/queries/open-work.ts';
import { Latest } from './telemetry/latest.ts';
import { channelHealthy, deliveryBacklog, deliveryLag, pollLag, tasksOpen } from './telemetry/metrics.ts';
import { openOperatorPort } from './telemetry/operator-port.ts';
import { watchProcess } from './telemetry/process-figures.ts';

/** What tells the operator how the gateway does. */
export interface Operator {
  /** Address of `/metrics`, without a slash at the end; undefined: there is none. */
  url: string | undefined;
  /** From now on the gateway itself says whether it is ready, and what it has to do. */
  started(gateway: Gateway): void;
  close(): Promise<void>;
}

/**
 * Opens the operator's port and sends spans away, if it is to. What is loaded for that is loaded here.
 *
 * @throws SettingsError when the port cannot be opened.
 */
export async function startOperator(
  { metrics, traces }: Pick<Settings, 'metrics' | 'traces'>,
  logger: Logger,
): Promise<Operator> {
  const told = metrics === undefined ? undefined : await tellMetrics(metrics);
  const stopSpans = traces === undefined ? async () => {} : await sendSpans(traces, logger);
  return {
    url: told?.url,
    started: (gateway) => told?.started(gateway),
    async close() {
      await told?.close();
      await stopSpans();
    },
  };
}

async function sendSpans(traces: TraceSettings, logger: Logger): Promise<() => Promise<void>> {
  const { exportSpans } = await import('./telemetry/span-export.ts');
  return exportSpans(traces, (message) => logger.warn({ reason: message }, 'spans could not be sent'));
}

async function tellMetrics(place: { host: string; port: number }): Promise<Operator> {
  const { Metrics } = await import('./telemetry/meter.ts');
  const metrics = new Metrics({ 'service.name': 'unigate' });
  const watched = [watchProcess()];
  let gateway: Gateway | undefined;
  const stop = async () => {
    for (const unwatch of watched) unwatch();
    await metrics.stop();
  };
  try {
    const port = await openOperatorPort(place, {
      metrics: () => metrics.text(),
      ready: async () => {
        if (gateway === undefined) throw new Error('The gateway starts.');
        await requireReady(gateway);
      },
    });
    return {
      url: port.url,
      started(running) {
        gateway = running;
        watched.push(watchChannels(running), watchOpenWork(running));
      },
      async close() {
        await port.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function watchChannels({ channels }: Gateway): () => void {
  return channelHealthy.watch(() =>
    channels.all.map(({ name, health }) => [health.healthy ? 1 : 0, { 'unigate.channel': name }]),
  );
}

/** A scrape asks for figures of the store that are no older than this, in milliseconds. */
const workAgeMs = 5_000;
/** Then it waits so long; while the store does not answer, its figures are left out. */
const workPatienceMs = 1_000;

function watchOpenWork({ store, timers }: Gateway): () => void {
  const work = new Latest<OpenWork>({
    ask: () => store.report('countOpenWork', undefined),
    ageMs: workAgeMs,
    patienceMs: workPatienceMs,
    now: timers.monotonic,
  });
  const late = (dueAt: number | null) => (dueAt === null ? 0 : Math.max(0, timers.monotonic() - dueAt) / 1e3);
  const told = async <Reading>(read: (figures: OpenWork) => Reading[]): Promise<Reading[]> => {
    const figures = await work.get();
    return figures === undefined ? [] : read(figures);
  };
  const stops = [
    tasksOpen.watch(() =>
      told(({ tasks }) =>
        Object.entries(tasks).map(([state, count]) => [count, { 'unigate.task.state': state }] as const),
      ),
    ),
    pollLag.watch(() => told(({ taskDueAt }) => [[late(taskDueAt)] as const])),
    deliveryBacklog.watch(() => told(({ deliveries }) => [[deliveries] as const])),
    deliveryLag.watch(() => told(({ deliveryDueAt }) => [[late(deliveryDueAt)] as const])),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
