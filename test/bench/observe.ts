import { cases } from './cases.ts';
import { here, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import { measureVariants, type VariantOptions, type VariantResult } from './variants.ts';

const kinds = ['nothing', 'metrics', 'metrics, 1 of 20 traces', 'metrics, every trace'] as const;
type Kind = (typeof kinds)[number];

/** Maximum relative cost for a small call. */
const maxOverhead = 0.03;

/** Measures a small call with and without metrics and traces, interleaved. Spans are sent to a collector. */
export async function measureObserve({
  server,
  ...options
}: VariantOptions & { server: string }): Promise<VariantResult[]> {
  const [bench] = cases;
  if (bench === undefined) throw new Error('there is no small call');
  const collector = await ServerProcess.start({ module: here('collector.ts'), core: 'others' });
  const metricsAndTraces = { METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin };
  const environments: Record<Kind, Record<string, string>> = {
    nothing: {},
    metrics: { METRICS_PORT: '0' },
    'metrics, 1 of 20 traces': {
      ...metricsAndTraces,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
    },
    'metrics, every trace': metricsAndTraces,
  };
  const variants = kinds.map((name) => ({
    name,
    server,
    environment: environments[name],
    checksLedger: true,
  }));
  const results = await measureVariants(bench, variants, options);
  await collector.stop();
  return results;
}

export function observeMarkdown(results: readonly VariantResult[]): string {
  const rows = results.map(({ name, cpuMicroseconds, cpuRatio, requestsRatio }) => [
    name,
    cpuMicroseconds.toFixed(0),
    `${((cpuRatio - 1) * 100).toFixed(1)} %`,
    `${((requestsRatio - 1) * 100).toFixed(1)} %`,
    name === kinds[0]
      ? ''
      : cpuRatio <= 1 + maxOverhead
        ? 'reached'
        : `missed, at most ${maxOverhead * 100} %`,
  ]);
  return table(['a small call, with', 'CPU, µs', 'more CPU', 'more requests/s', 'target'], rows);
}
