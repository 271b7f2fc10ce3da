import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import { type Metric, plainMetric } from './exposition.ts';
import { allMetrics } from './metrics.ts';

const collectTimeoutMs = 2_000;

/** Collects all metrics of this process from its construction on. */
export class MetricCollector {
  readonly #reader = new ScrapedReader({
    // With cumulative temporality the SDK reports the last value of a gauge forever.
    aggregationTemporalitySelector: (type) =>
      type === InstrumentType.OBSERVABLE_GAUGE
        ? AggregationTemporality.DELTA
        : AggregationTemporality.CUMULATIVE,
  });
  readonly #provider: MeterProvider;
  readonly #detach: readonly (() => void)[];
  #collecting: Promise<readonly Metric[]> | undefined;

  constructor() {
    this.#provider = new MeterProvider({ readers: [this.#reader] });
    const meter = this.#provider.getMeter('unigate');
    this.#detach = allMetrics.map((metric) => metric.attach(meter));
  }

  /** Returns the current values. Concurrent calls share one collection. Metrics that fail or time out are left out. */
  collect(): Promise<readonly Metric[]> {
    this.#collecting ??= this.#reader
      .collect({ timeoutMillis: collectTimeoutMs })
      .then(({ resourceMetrics: { scopeMetrics } }) =>
        scopeMetrics.flatMap(({ metrics }) => metrics.flatMap((metric) => plainMetric(metric) ?? [])),
      )
      .finally(() => {
        this.#collecting = undefined;
      });
    return this.#collecting;
  }

  async stop(): Promise<void> {
    for (const detach of this.#detach) detach();
    await this.#provider.shutdown();
  }
}

/** A reader without an exporter. */
class ScrapedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
