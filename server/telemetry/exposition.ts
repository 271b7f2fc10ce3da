import type { Attributes } from '@opentelemetry/api';
import {
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';

type Kind = 'histogram' | 'counter' | 'gauge';

const unitWords: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' };

/** A metric's name as it is scraped, by OpenTelemetry's rules for Prometheus; counters' values add `_total`. */
export function familyName({ name, unit }: { name: string; unit: string }): string {
  const word = unitWords[unit];
  const plain = name.replaceAll('.', '_');
  return word === undefined || plain.endsWith(`_${word}`) ? plain : `${plain}_${word}`;
}

/** Writes metrics as OpenMetrics 1.0. The SDK's own exporter writes the older form, without units. */
export function openMetrics({ resource, scopeMetrics }: ResourceMetrics): string {
  const lines = ['# TYPE target info', '# HELP target What is measured.'];
  lines.push(sample('target_info', resource.attributes, 1));
  for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) writeFamily(lines, metric);
  return `${lines.join('\n')}\n# EOF\n`;
}

function writeFamily(lines: string[], metric: MetricData): void {
  const { descriptor } = metric;
  const name = familyName(descriptor);
  const kind = kindOf(metric);
  lines.push(`# TYPE ${name} ${kind}`);
  const word = unitWords[descriptor.unit];
  if (word !== undefined) lines.push(`# UNIT ${name} ${word}`);
  lines.push(`# HELP ${name} ${escape(descriptor.description)}`);
  if (metric.dataPointType === DataPointType.HISTOGRAM) {
    for (const point of metric.dataPoints) writeHistogram(lines, name, point);
  } else if (metric.dataPointType !== DataPointType.EXPONENTIAL_HISTOGRAM) {
    const valueName = kind === 'counter' ? `${name}_total` : name;
    for (const { attributes, value } of metric.dataPoints) lines.push(sample(valueName, attributes, value));
  }
}

function kindOf(metric: MetricData): Kind {
  if (metric.dataPointType === DataPointType.HISTOGRAM) return 'histogram';
  return metric.dataPointType === DataPointType.SUM && metric.isMonotonic ? 'counter' : 'gauge';
}

function writeHistogram(lines: string[], name: string, { attributes, value }: DataPoint<Histogram>): void {
  const { boundaries, counts } = value.buckets;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    below += count;
    const end = boundaries[index];
    const le = end === undefined ? '+Inf' : Number.isInteger(end) ? `${end}.0` : String(end);
    lines.push(sample(`${name}_bucket`, { ...attributes, le }, below));
  }
  lines.push(sample(`${name}_count`, attributes, value.count));
  lines.push(sample(`${name}_sum`, attributes, value.sum ?? 0));
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
