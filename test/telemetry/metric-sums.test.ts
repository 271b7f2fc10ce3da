import { expect, test } from 'vitest';
import { labelText, type Metric, metricsText } from '../../server/telemetry/exposition.ts';
import { MetricSums } from '../../server/telemetry/metric-sums.ts';
import {
  channelHealthy,
  connectionCount,
  eventLoopUtilization,
  quotaCharged,
  storeDuration,
} from '../../server/telemetry/metrics.ts';

const named = (
  name: string,
  value: number,
  attributes = {},
  kind: 'counter' | 'gauge' = 'gauge',
): Metric => ({
  name,
  unit: '1',
  description: 'A metric.',
  kind,
  points: { [labelText(attributes)]: [value] },
});
const charged = (value: number, attributes = {}) =>
  named(quotaCharged.descriptor.name, value, attributes, 'counter');
const histogram = (counts: number[], sum: number): Metric => {
  const { name, unit, description } = storeDuration.descriptor;
  const points = { [labelText({ a: 1 })]: [...counts, sum] };
  return { name, unit, description, kind: 'histogram', boundaries: [1, 2], points };
};
const [a, b, c] = [Symbol('a'), Symbol('b'), Symbol('c')];
const valuesOf = (metrics: readonly Metric[]) =>
  Object.fromEntries(metrics.map(({ name, points }) => [name, Object.values(points)]));

test('counters and histograms are added by their attributes, in any order of the attributes', () => {
  const sums = new MetricSums<symbol>();
  const merged = sums.merge([
    [a, [charged(1, { x: 1, y: 2 }), histogram([1, 0, 2], 7)]],
    [b, [charged(10, { y: 2, x: 1 }), histogram([0, 3, 1], 9)]],
    [c, [charged(100, { x: 2, y: 2 })]],
  ]);
  expect(valuesOf(merged)).toEqual({
    [quotaCharged.descriptor.name]: [[11], [100]],
    [storeDuration.descriptor.name]: [[1, 3, 3, 16]],
  });
  expect(metricsText('openmetrics', {}, merged).split('\n')).toEqual(
    expect.arrayContaining([
      'db_client_operation_duration_seconds_bucket{a="1",le="1.0"} 1',
      'db_client_operation_duration_seconds_bucket{a="1",le="2.0"} 4',
      'db_client_operation_duration_seconds_bucket{a="1",le="+Inf"} 7',
      'db_client_operation_duration_seconds_count{a="1"} 7',
      'db_client_operation_duration_seconds_sum{a="1"} 16',
    ]),
  );
});

test('gauges are combined by sum, maximum or minimum, by their metric', () => {
  const of = (healthy: number, connections: number, busy: number) => [
    named(channelHealthy.descriptor.name, healthy, { channel: 'a' }),
    named(connectionCount.descriptor.name, connections),
    named(eventLoopUtilization.descriptor.name, busy),
  ];
  const merged = new MetricSums<symbol>().merge([
    [a, of(1, 3, 0.25)],
    [b, of(0, 4, 0.5)],
  ]);
  expect(valuesOf(merged)).toEqual({
    [channelHealthy.descriptor.name]: [[0]],
    [connectionCount.descriptor.name]: [[7]],
    [eventLoopUtilization.descriptor.name]: [[0.5]],
  });
});

test('counts of a process that ended or did not respond are retained, its gauges are not', () => {
  const sums = new MetricSums<symbol>();
  const worker = (value: number) => [
    charged(value),
    named(connectionCount.descriptor.name, 5),
    histogram([value, 0, 0], 1),
  ];
  const count = (merged: readonly Metric[]) => {
    const values = valuesOf(merged);
    const bucketCounts = values[storeDuration.descriptor.name]?.[0]?.slice(0, -1);
    return [
      values[quotaCharged.descriptor.name]?.[0]?.[0],
      bucketCounts?.reduce((sum, bucketCount) => sum + bucketCount, 0),
      values[connectionCount.descriptor.name]?.[0]?.[0],
    ];
  };
  expect(
    count(
      sums.merge([
        [a, worker(7)],
        [b, worker(1)],
      ]),
    ),
  ).toEqual([8, 8, 10]);
  expect(
    count(
      sums.merge([
        [a, undefined],
        [b, worker(2)],
      ]),
    ),
  ).toEqual([9, 9, 5]);
  sums.end(a);
  sums.end(Symbol('never collected'));
  expect(count(sums.merge([[b, worker(3)]]))).toEqual([10, 10, 5]);
  expect(
    count(
      sums.merge([
        [b, worker(3)],
        [c, worker(4)],
      ]),
    ),
  ).toEqual([14, 14, 10]);
});

test('a process that ends during a collection is not counted twice, and no sum falls afterwards', () => {
  const sums = new MetricSums<symbol>();
  const merged = (...collected: [symbol, Metric[]][]) =>
    valuesOf(sums.merge(collected))[quotaCharged.descriptor.name]?.[0]?.[0];
  expect(merged([a, [charged(7)]], [b, [charged(1)]])).toBe(8);
  sums.end(a);
  // It responded before it ended.
  expect(merged([a, [charged(9)]], [b, [charged(2)]])).toBe(9);
  expect(merged([b, [charged(2)]])).toBe(9);
});
