import type { Metric } from './exposition.ts';
import { allMetrics } from './metrics.ts';

type Combine = (left: number, right: number) => number;

const add: Combine = (left, right) => left + right;

/** How gauges of several processes are combined, by the metric's name. Default: their sum. */
const gaugeAggregations: ReadonlyMap<string, Combine> = new Map(
  allMetrics.flatMap(({ descriptor: { name, workerAggregation } }) =>
    workerAggregation === undefined ? [] : [[name, Math[workerAggregation]]],
  ),
);

/**
 * Merges the metrics of several processes. Collected counts of ended processes are retained, because a sum that falls
 * would look like a counter reset.
 */
export class MetricSums<Source extends WeakKey> {
  #ended: readonly Metric[] = [];
  readonly #latest = new Map<Source, readonly Metric[]>();
  readonly #endedSources = new WeakSet<Source>();

  /** Merges the current metrics of all processes. A process that did not respond has undefined. */
  merge(collected: Iterable<readonly [Source, readonly Metric[] | undefined]>): readonly Metric[] {
    const reports: (readonly Metric[])[] = [this.#ended];
    for (const [source, metrics] of collected) {
      // It ended after it responded: `#ended` contains its earlier counts.
      if (this.#endedSources.has(source)) continue;
      if (metrics !== undefined) this.#latest.set(source, metrics);
      reports.push(metrics ?? withoutGauges(this.#latest.get(source) ?? []));
    }
    return sum(reports);
  }

  /** Records that a process has ended. */
  end(source: Source): void {
    this.#endedSources.add(source);
    const last = this.#latest.get(source);
    this.#latest.delete(source);
    if (last !== undefined) this.#ended = sum([this.#ended, withoutGauges(last)]);
  }
}

const withoutGauges = (metrics: readonly Metric[]) => metrics.filter(({ kind }) => kind !== 'gauge');

function sum(reports: readonly (readonly Metric[])[]): Metric[] {
  const sums = new Map<string, Metric>();
  for (const metric of reports.flat()) {
    const before = sums.get(metric.name);
    sums.set(metric.name, before === undefined ? metric : combined(before, metric));
  }
  return [...sums.values()];
}

/** All processes have the same boundaries. */
function combined(left: Metric, right: Metric): Metric {
  const combine = (left.kind === 'gauge' && gaugeAggregations.get(left.name)) || add;
  const points = { ...left.points };
  for (const [labels, values] of Object.entries(right.points))
    points[labels] = points[labels]?.map((value, index) => combine(value, values[index] ?? 0)) ?? values;
  return { ...left, points };
}
