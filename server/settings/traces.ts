import { SettingsError } from './settings-error.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Settings of the span export, from OpenTelemetry's own variables. */
export interface TraceSettings {
  url: string;
  /** They may contain secrets. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  sampler: (typeof samplers)[number];
  /** Share of traces to record, from 0 to 1, for samplers with a ratio. */
  ratio: number;
}

/** Reads the settings. Undefined: no spans are recorded. @throws SettingsError naming the invalid variable */
export function traceSettings(set: (name: string) => string | undefined): TraceSettings | undefined {
  const own = set('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const common = set('OTEL_EXPORTER_OTLP_ENDPOINT');
  const off = set('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || set('OTEL_TRACES_EXPORTER') === 'none';
  if (off || (own === undefined && common === undefined)) return undefined;
  const url =
    own === undefined
      ? `${endpoint('OTEL_EXPORTER_OTLP_ENDPOINT', common ?? '').replace(/\/+$/, '')}/v1/traces`
      : endpoint('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own);
  const sampler = set('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const known = samplers.find((name) => name === sampler);
  if (known === undefined)
    throw new SettingsError(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}, not ${sampler}.`);
  const ratio = Number(set('OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (!(ratio >= 0 && ratio <= 1))
    throw new SettingsError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  return {
    url,
    headers: {
      ...headersOf('OTEL_EXPORTER_OTLP_HEADERS', set),
      ...headersOf('OTEL_EXPORTER_OTLP_TRACES_HEADERS', set),
    },
    serviceName: set('OTEL_SERVICE_NAME') ?? 'unigate',
    sampler: known,
    ratio,
  };
}

function endpoint(name: string, text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return text;
  throw new SettingsError(`${name} must be a URL that begins with http:// or https://.`);
}

/** Parses comma-separated `name=value` pairs with percent-encoded values. */
function headersOf(name: string, set: (name: string) => string | undefined): Record<string, string> {
  const pairs = (set(name) ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      try {
        if (at > 0) return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      } catch {
        // The error below does not contain the value.
      }
      throw new SettingsError(`${name} must be name=value pairs, separated by commas.`);
    }),
  );
}
