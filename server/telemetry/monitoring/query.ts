import { familyName } from '../exposition.ts';
import type { allMetrics, Counter, Gauge, Histogram } from '../instruments.ts';

/** The `job` of the gateways in Prometheus. Other programs also have metrics such as `process_uptime_seconds`. */
export const job = 'unigate';

/** Any metric of the gateway. */
export type Instrument = Counter | Gauge | Histogram;

/** Returns the name of a metric in Prometheus. A histogram adds `_bucket`, `_count` and `_sum`. */
export function nameOf({ descriptor, kind }: (typeof allMetrics)[number]): string {
  return familyName(descriptor) + (kind === 'counter' ? '_total' : '');
}

/** Returns the names of its labels in Prometheus. */
export function labelsOf({ descriptor }: Instrument): string[] {
  return (descriptor.attributes ?? []).map((name) => name.replaceAll('.', '_'));
}

/** Returns the rate of a counter, or of the number of values of a histogram, over 5 minutes. */
export function rate5m(instrument: Counter | Histogram, matchers = ''): string {
  const count = instrument.kind === 'histogram' ? '_count' : '';
  return `rate(${nameOf(instrument)}${count}${selector(matchers)}[5m])`;
}

/** Returns the selector of the gateways of `job`, with more matchers such as `a="b"`. */
export function selector(matchers = ''): string {
  return `{job="${job}"${matchers === '' ? '' : `,${matchers}`}}`;
}
