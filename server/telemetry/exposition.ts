import type { Attributes } from '@opentelemetry/api';
import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';

/** The current values of a metric, as plain data that processes can exchange. */
export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly kind: 'histogram' | 'counter' | 'gauge';
  /** Upper ends of the buckets of a histogram, except the last bucket, which has none. */
  readonly boundaries?: readonly number[];
  /** Values by labels, see `labelText`. A histogram has the count of each bucket and then the sum, others one value. */
  readonly points: Readonly<Record<string, readonly number[]>>;
}

const unitNames: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' };

/** Returns the Prometheus name of a metric, by OpenTelemetry's rules. Values of counters add `_total`. */
export function familyName({ name, unit }: { name: string; unit: string }): string {
  const unitName = unitNames[unit];
  const baseName = name.replaceAll('.', '_');
  return unitName === undefined || baseName.endsWith(`_${unitName}`) ? baseName : `${baseName}_${unitName}`;
}

/** Converts a metric of the SDK. Returns undefined for exponential histograms. */
export function plainMetric(metric: MetricData): Metric | undefined {
  const { name, unit, description } = metric.descriptor;
  const descriptor = { name, unit, description };
  if (metric.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) return undefined;
  if (metric.dataPointType === DataPointType.HISTOGRAM) {
    const points = metric.dataPoints.map(({ attributes, value: { buckets, sum = 0 } }) => [
      labelText(attributes),
      [...buckets.counts, sum],
    ]);
    const boundaries = metric.dataPoints[0]?.value.buckets.boundaries ?? [];
    return { ...descriptor, kind: 'histogram', boundaries, points: Object.fromEntries(points) };
  }
  const kind = metric.dataPointType === DataPointType.SUM && metric.isMonotonic ? 'counter' : 'gauge';
  const points = metric.dataPoints.map(({ attributes, value }) => [labelText(attributes), [value]]);
  return { ...descriptor, kind, points: Object.fromEntries(points) };
}

/** Writes attributes as labels such as `method="GET",status="200"`, in the order of their names. */
export function labelText(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}="${escape(String(value))}"`)
    .toSorted()
    .join(',');
}

/** A text format of metrics: OpenMetrics 1.0.0, or the format 0.0.4 of Prometheus. */
export type TextFormat = 'openmetrics' | 'prometheus';

/** Writes metrics as text. The exporter of the SDK writes only the older format. */
export function metricsText(format: TextFormat, resource: Attributes, metrics: readonly Metric[]): string {
  const isOpenMetrics = format === 'openmetrics';
  const lines = isOpenMetrics
    ? ['# TYPE target info', '# HELP target The measured process.']
    : ['# HELP target_info The measured process.', '# TYPE target_info gauge'];
  lines.push(sample('target_info', labelText(resource), 1));
  for (const metric of metrics) {
    const family = familyName(metric);
    const name = !isOpenMetrics && metric.kind === 'counter' ? `${family}_total` : family;
    const unitName = unitNames[metric.unit];
    lines.push(`# TYPE ${name} ${metric.kind}`);
    if (isOpenMetrics && unitName !== undefined) lines.push(`# UNIT ${name} ${unitName}`);
    lines.push(`# HELP ${name} ${isOpenMetrics ? escape(metric.description) : metric.description}`);
    for (const [labels, values] of Object.entries(metric.points))
      lines.push(...samplesOf(family, metric, labels, values));
  }
  if (isOpenMetrics) lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function samplesOf(
  name: string,
  { kind, boundaries = [] }: Metric,
  labels: string,
  values: readonly number[],
): string[] {
  const last = values.at(-1) ?? 0;
  if (kind !== 'histogram') return [sample(kind === 'counter' ? `${name}_total` : name, labels, last)];
  let count = 0;
  const buckets = values.slice(0, -1).map((bucketCount, index) => {
    count += bucketCount;
    const end = boundaries[index];
    const le = end === undefined ? '+Inf' : Number.isInteger(end) ? `${end}.0` : String(end);
    return sample(`${name}_bucket`, `${labels}${labels === '' ? '' : ','}le="${le}"`, count);
  });
  return [...buckets, sample(`${name}_count`, labels, count), sample(`${name}_sum`, labels, last)];
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
