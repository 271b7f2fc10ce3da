import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../settings/traces.ts';
import { useTracer } from '../telemetry/trace.ts';

/**
 * Starts to record spans and to export them in batches. Batches that fail are dropped and reported to `onFailure`. Returns a
 * function that exports the rest and stops.
 */
export function exportSpans(
  { url, headers, serviceName, sampler, ratio }: TraceSettings,
  onFailure: (message: string) => void,
): () => Promise<void> {
  const ignore = () => {};
  const error = (message: string) => onFailure(message);
  const logger = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: samplerOf(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeoutMillis })],
  });
  const stop = useTracer(provider.getTracer('unigate'), api);
  return async () => {
    stop();
    await provider.shutdown().catch((error: unknown) => onFailure(String(error)));
    api.diag.disable();
  };
}

/** Time limit of a batch, and so of the last one during a stop. */
const timeoutMillis = 5_000;

function samplerOf(name: TraceSettings['sampler'], ratio: number): Sampler {
  const rootName = name.replace('parentbased_', '');
  const root =
    rootName === 'always_on'
      ? new AlwaysOnSampler()
      : rootName === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
