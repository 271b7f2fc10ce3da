import type { Attributes } from '@opentelemetry/api';
import type { HistogramPoint, Metric } from './exposition.ts';
import { allMetrics } from './metrics.ts';

type Together = (left: number, right: number) => number;

const ways: Readonly<Record<'sum' | 'most' | 'least', Together>> = {
  sum: (left, right) => left + right,
  most: Math.max,
  least: Math.min,
};

/** How gauges of several processes are told as one, by the metric's name. */
const together: ReadonlyMap<string, Together> = new Map(
  allMetrics.map(({ described }) => [described.name, ways[described.together ?? 'sum']]),
);

/**
 * Metrics of several processes as those of one. What a process has counted stays counted when it has ended, as far as it was
 * collected: a sum that falls would be taken for a new beginning.
 */
export class MetricSums<Source extends WeakKey> {
  #ended: readonly Metric[] = [];
  readonly #latest = new Map<Source, readonly Metric[]>();
  readonly #gone = new WeakSet<Source>();

  /** Takes what processes tell now; of one that does not answer, undefined. */
  add(collected: Iterable<readonly [Source, readonly Metric[] | undefined]>): readonly Metric[] {
    const told: (readonly Metric[])[] = [this.#ended];
    for (const [source, metrics] of collected) {
      // It ended after it answered. Its counts are in `#ended` already, as far as they were reported before.
      if (this.#gone.has(source)) continue;
      if (metrics !== undefined) this.#latest.set(source, metrics);
      told.push(metrics ?? counted(this.#latest.get(source) ?? []));
    }
    return sum(told);
  }

  /** A process has ended. */
  end(source: Source): void {
    this.#gone.add(source);
    const last = this.#latest.get(source);
    this.#latest.delete(source);
    if (last !== undefined) this.#ended = sum([this.#ended, counted(last)]);
  }
}

/** What only grows. */
const counted = (metrics: readonly Metric[]) => metrics.filter(({ kind }) => kind !== 'gauge');

function sum(told: readonly (readonly Metric[])[]): Metric[] {
  const sums = new Map<string, Metric>();
  for (const metric of told.flat()) {
    const before = sums.get(metric.name);
    sums.set(metric.name, before === undefined ? metric : add(before, metric));
  }
  return [...sums.values()];
}

function add(left: Metric, right: Metric): Metric {
  if (left.kind === 'histogram')
    return right.kind === 'histogram'
      ? { ...left, points: join(left.points, right.points, addHistograms) }
      : left;
  if (right.kind === 'histogram') return left;
  const way = left.kind === 'counter' ? ways.sum : (together.get(left.name) ?? ways.sum);
  return { ...left, points: join(left.points, right.points, way) };
}

interface Point<Value> {
  attributes: Attributes;
  value: Value;
}

function join<Value>(
  left: readonly Point<Value>[],
  right: readonly Point<Value>[],
  way: (left: Value, right: Value) => Value,
): Point<Value>[] {
  const points = new Map(left.map((point) => [nameOf(point.attributes), point]));
  for (const { attributes, value } of right) {
    const name = nameOf(attributes);
    const before = points.get(name);
    points.set(name, { attributes, value: before === undefined ? value : way(before.value, value) });
  }
  return [...points.values()];
}

/** The same for the same attributes in whatever order. */
function nameOf(attributes: Attributes): string {
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
