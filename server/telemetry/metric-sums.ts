import type { Attributes } from '@opentelemetry/api';
import type { HistogramPoint, Metric } from './exposition.ts';
import { allMetrics } from './metrics.ts';

type Combine = (left: number, right: number) => number;

const aggregations: Readonly<Record<'sum' | 'max' | 'min', Combine>> = {
  sum: (left, right) => left + right,
  max: Math.max,
  min: Math.min,
};

/** How gauges of several processes are combined, by the metric's name. */
const gaugeAggregations: ReadonlyMap<string, Combine> = new Map(
  allMetrics.map(({ descriptor }) => [descriptor.name, aggregations[descriptor.workerAggregation ?? 'sum']]),
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
    sums.set(metric.name, before === undefined ? metric : add(before, metric));
  }
  return [...sums.values()];
}

function add(left: Metric, right: Metric): Metric {
  if (left.kind === 'histogram')
    return right.kind === 'histogram'
      ? { ...left, points: mergePoints(left.points, right.points, addHistograms) }
      : left;
  if (right.kind === 'histogram') return left;
  const gaugeAggregation = gaugeAggregations.get(left.name) ?? aggregations.sum;
  const combine = left.kind === 'counter' ? aggregations.sum : gaugeAggregation;
  return { ...left, points: mergePoints(left.points, right.points, combine) };
}

interface Point<Value> {
  attributes: Attributes;
  value: Value;
}

function mergePoints<Value>(
  left: readonly Point<Value>[],
  right: readonly Point<Value>[],
  combine: (left: Value, right: Value) => Value,
): Point<Value>[] {
  const points = new Map(left.map((point) => [attributesKey(point.attributes), point]));
  for (const { attributes, value } of right) {
    const key = attributesKey(attributes);
    const before = points.get(key);
    points.set(key, { attributes, value: before === undefined ? value : combine(before.value, value) });
  }
  return [...points.values()];
}

/** Returns a key that does not depend on the order of the attributes. */
function attributesKey(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** All processes have the same boundaries. */
function addHistograms(left: HistogramPoint, right: HistogramPoint): HistogramPoint {
  return {
    boundaries: left.boundaries,
    counts: left.counts.map((count, index) => count + (right.counts[index] ?? 0)),
    count: left.count + right.count,
    sum: left.sum + right.sum,
  };
}
