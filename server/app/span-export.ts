import { DiagLogLevel, diag } from '@opentelemetry/api';
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
 * Records spans from now on, and sends them in batches; what does not arrive is dropped. Gives what sends the rest and
 * ends it. `failed` is told what kept spans from arriving.
 */
export function exportSpans(
  { url, headers, serviceName, sampler, ratio }: TraceSettings,
  failed: (message: string) => void,
): () => Promise<void> {
  const tell = (message: string) => failed(message);
  const quiet = () => {};
  const logger = { error: tell, warn: quiet, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: samplerOf(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeoutMillis })],
  });
  const stop = useTracer(provider.getTracer('unigate'));
  return async () => {
    stop();
    await provider.shutdown().catch((error: unknown) => failed(String(error)));
    diag.disable();
  };
}

/** Longest time for a batch to be taken, and so for the gateway to wait for the last one. */
const timeoutMillis = 5_000;

function samplerOf(name: TraceSettings['sampler'], ratio: number): Sampler {
  const parted = name.replace('parentbased_', '');
  const root =
    parted === 'always_on'
      ? new AlwaysOnSampler()
      : parted === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
