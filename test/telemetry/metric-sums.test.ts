import { expect, test } from 'vitest';
import type { Metric } from '../../server/telemetry/exposition.ts';
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
  text: 'a text',
  kind,
  points: [{ attributes, value }],
});
const charged = (value: number, attributes = {}) =>
  named(quotaCharged.descriptor.name, value, attributes, 'counter');
const spread = (counts: number[], sum: number): Metric => {
  const count = counts.reduce((all, one) => all + one, 0);
  const value = { boundaries: [1, 2], counts, count, sum };
  const { name, unit, text } = storeDuration.descriptor;
  return { name, unit, text, kind: 'histogram', points: [{ attributes: { a: 1 }, value }] };
};
const [a, b, c] = [Symbol('a'), Symbol('b'), Symbol('c')];
const valuesOf = (metrics: readonly Metric[]) =>
  Object.fromEntries(metrics.map(({ name, points }) => [name, points.map(({ value }) => value)]));

test('counters and histograms are added up by their attributes, in whatever order those stand', () => {
  const sums = new MetricSums<symbol>();
  const told = sums.merge([
    [a, [charged(1, { x: 1, y: 2 }), spread([1, 0, 2], 7)]],
    [b, [charged(10, { y: 2, x: 1 }), spread([0, 3, 1], 9)]],
    [c, [charged(100, { x: 2, y: 2 })]],
  ]);
  expect(valuesOf(told)).toEqual({
    [quotaCharged.descriptor.name]: [11, 100],
    [storeDuration.descriptor.name]: [{ boundaries: [1, 2], counts: [1, 3, 3], count: 7, sum: 16 }],
  });
});

test('of gauges the sum is told, the most, or the least, whichever makes sense', () => {
  const of = (healthy: number, connections: number, busy: number) => [
    named(channelHealthy.descriptor.name, healthy, { channel: 'a' }),
    named(connectionCount.descriptor.name, connections),
    named(eventLoopUtilization.descriptor.name, busy),
  ];
  const told = new MetricSums<symbol>().merge([
    [a, of(1, 3, 0.25)],
    [b, of(0, 4, 0.5)],
  ]);
  expect(valuesOf(told)).toEqual({
    [channelHealthy.descriptor.name]: [0],
    [connectionCount.descriptor.name]: [7],
    [eventLoopUtilization.descriptor.name]: [0.5],
  });
});

test('what one counted that has ended, or does not answer, stays counted; its gauges do not', () => {
  const sums = new MetricSums<symbol>();
  const worker = (value: number) => [
    charged(value),
    named(connectionCount.descriptor.name, 5),
    spread([value, 0, 0], 1),
  ];
  const count = (told: readonly Metric[]) => {
    const values = valuesOf(told);
    const spreadOut = values[storeDuration.descriptor.name]?.[0] as { count: number } | undefined;
    return [
      values[quotaCharged.descriptor.name]?.[0],
      spreadOut?.count,
      values[connectionCount.descriptor.name]?.[0],
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

test('a process that ends while others are asked is not counted twice, and no sum falls after it', () => {
  const sums = new MetricSums<symbol>();
  const told = (...collected: [symbol, Metric[]][]) =>
    valuesOf(sums.merge(collected))[quotaCharged.descriptor.name]?.[0];
  expect(told([a, [charged(7)]], [b, [charged(1)]])).toBe(8);
  sums.end(a);
  // It had answered before it ended.
  expect(told([a, [charged(9)]], [b, [charged(2)]])).toBe(9);
  expect(told([b, [charged(2)]])).toBe(9);
});
