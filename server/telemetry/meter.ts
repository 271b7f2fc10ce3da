import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import { type Metric, plainMetric } from './exposition.ts';
import { allMetrics } from './metrics.ts';

/** Longest that a scrape waits for one figure that has to be asked for, in milliseconds. */
const patience = 2_000;

/** Sums up what is measured from now on. */
export class Metrics {
  readonly #reader = new ScrapedReader({
    // Otherwise the SDK would tell a gauge's last value for ever when there is none any more.
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

  /** As they stand; who asks while they are being collected gets the same. A figure that cannot be had is left out. */
  collect(): Promise<readonly Metric[]> {
    this.#collecting ??= this.#reader
      .collect({ timeoutMillis: patience })
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

/** It reads when it is asked to, and there is nothing to send. */
class ScrapedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
