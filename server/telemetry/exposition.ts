import type { Attributes } from '@opentelemetry/api';
import {
  type DataPoint,
  DataPointType,
  type Histogram as HistogramValue,
  type MetricData,
} from '@opentelemetry/sdk-metrics';

/** The value of a metric for one set of attributes. */
interface Point<Value> {
  attributes: Attributes;
  value: Value;
}

/** Boundaries are upper ends of buckets. There is one more count than boundaries. */
export interface HistogramPoint {
  boundaries: readonly number[];
  counts: readonly number[];
  count: number;
  sum: number;
}

/** The current values of a metric, as plain data. */
export type Metric = { name: string; unit: string; text: string } & (
  | { kind: 'histogram'; points: readonly Point<HistogramPoint>[] }
  | { kind: 'counter' | 'gauge'; points: readonly Point<number>[] }
);

const unitNames: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' };

/** Returns the Prometheus name of a metric, by OpenTelemetry's rules. Values of counters add `_total`. */
export function familyName({ name, unit }: { name: string; unit: string }): string {
  const unitName = unitNames[unit];
  const baseName = name.replaceAll('.', '_');
  return unitName === undefined || baseName.endsWith(`_${unitName}`) ? baseName : `${baseName}_${unitName}`;
}

/** Converts a metric of the SDK. Returns undefined for exponential histograms. */
export function plainMetric(metric: MetricData): Metric | undefined {
  const { name, unit, description: text } = metric.descriptor;
  const descriptor = { name, unit, text };
  if (metric.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) return undefined;
  if (metric.dataPointType === DataPointType.HISTOGRAM)
    return { ...descriptor, kind: 'histogram', points: metric.dataPoints.map(plainHistogram) };
  const kind = metric.dataPointType === DataPointType.SUM && metric.isMonotonic ? 'counter' : 'gauge';
  const points = metric.dataPoints.map(({ attributes, value }) => ({ attributes, value }));
  return { ...descriptor, kind, points };
}

function plainHistogram({ attributes, value }: DataPoint<HistogramValue>): Point<HistogramPoint> {
  const { buckets, count, sum = 0 } = value;
  return { attributes, value: { boundaries: buckets.boundaries, counts: buckets.counts, count, sum } };
}

/** Writes metrics as OpenMetrics 1.0. The exporter of the SDK writes an older format without units. */
export function openMetrics(resource: Attributes, metrics: readonly Metric[]): string {
  const lines = ['# TYPE target info', '# HELP target The measured process.'];
  lines.push(sample('target_info', resource, 1));
  for (const metric of metrics) writeFamily(lines, metric);
  return `${lines.join('\n')}\n# EOF\n`;
}

function writeFamily(lines: string[], metric: Metric): void {
  const name = familyName(metric);
  lines.push(`# TYPE ${name} ${metric.kind}`);
  const unitName = unitNames[metric.unit];
  if (unitName !== undefined) lines.push(`# UNIT ${name} ${unitName}`);
  lines.push(`# HELP ${name} ${escape(metric.text)}`);
  if (metric.kind === 'histogram') {
    for (const point of metric.points) writeHistogram(lines, name, point);
    return;
  }
  const valueName = metric.kind === 'counter' ? `${name}_total` : name;
  for (const { attributes, value } of metric.points) lines.push(sample(valueName, attributes, value));
}

function writeHistogram(lines: string[], name: string, { attributes, value }: Point<HistogramPoint>): void {
  let cumulative = 0;
  for (const [index, count] of value.counts.entries()) {
    cumulative += count;
    const end = value.boundaries[index];
    const le = end === undefined ? '+Inf' : Number.isInteger(end) ? `${end}.0` : String(end);
    lines.push(sample(`${name}_bucket`, { ...attributes, le }, cumulative));
  }
  lines.push(sample(`${name}_count`, attributes, value.count));
  lines.push(sample(`${name}_sum`, attributes, value.sum));
}

function sample(name: string, attributes: Attributes, value: number): string {
  const labels = Object.entries(attributes)
    .filter(([, text]) => text !== undefined)
    .map(([key, text]) => `${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}="${escape(String(text))}"`);
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}`;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
