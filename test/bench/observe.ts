import { cases, characters } from './cases.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { here, LoadProcess, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import { checkOne, requestText } from './rounds.ts';
import { median } from './verdict.ts';

const kinds = ['nothing', 'metrics', 'metrics, 1 of 20 traces', 'metrics, every trace'] as const;
type Kind = (typeof kinds)[number];

export interface ObserveOptions {
  rounds: number;
  seconds: number;
  connections: number;
  processes: number;
  /** The gateway's main module. */
  server: string;
}

/** Cost of metrics and traces: medians of the ratio to a gateway without them. */
export interface ObserveResult {
  kind: Kind;
  /** CPU of a small call, in microseconds. */
  cpuMicroseconds: number;
  cpuRatio: number;
  requestsRatio: number;
}

/** Maximum relative cost for a small call. */
const maxOverhead = 0.03;
const warmUpSeconds = 4;

/** Measures a small call with and without metrics and traces, interleaved. Spans are sent to a collector. */
export async function measureObserve(options: ObserveOptions): Promise<ObserveResult[]> {
  const [bench] = cases;
  if (bench === undefined) throw new Error('there is no small call');
  const upstream = await ServerProcess.start({ module: here('upstream.ts'), core: 'others' });
  const collector = await ServerProcess.start({ module: here('collector.ts'), core: 'others' });
  const load = new LoadProcess<LoadRequest, LoadResult>('load.ts');
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
  const gateways = ofEach<RunningGateway>();
  const responseCounts = new Map<ServerProcess, number>();
  const request = requestText(bench);
  const round = async (server: ServerProcess, bodyBytes: number, seconds: number) => {
    const before = await server.cpuMicroseconds();
    const { port } = server;
    const result = await load.run({ port, request, connections: options.connections, seconds, bodyBytes });
    const cpu = (await server.cpuMicroseconds()) - before;
    responseCounts.set(server, (responseCounts.get(server) ?? 0) + result.responses);
    return { cpu: cpu / result.responses, requests: result.responses / result.seconds };
  };
  try {
    let length = 0;
    for (let index = 0; index < options.processes; index += 1) {
      for (const kind of kinds) {
        const gateway = await startGateway(
          options.server,
          upstream.origin,
          undefined,
          ['native'],
          environments[kind],
        );
        gateways[kind].push(gateway);
        length = await checkOne(kind, gateway.server, bench);
        responseCounts.set(gateway.server, 1);
        await round(gateway.server, length, warmUpSeconds);
      }
    }
    const measured = ofEach<{ cpu: number; requests: number }>();
    for (let index = 0; index < options.rounds * options.processes; index += 1) {
      // Rotates the order of the kinds.
      for (let step = 0; step < kinds.length; step += 1) {
        const kind = kinds[(index + step) % kinds.length] ?? 'nothing';
        const gateway = gateways[kind][Math.floor(index / options.rounds)];
        if (gateway !== undefined) measured[kind].push(await round(gateway.server, length, options.seconds));
      }
    }
    for (const gateway of kinds.flatMap((kind) => gateways[kind])) {
      const count = responseCounts.get(gateway.server) ?? 0;
      await gateway.stop({ responses: count, charged: count * characters });
    }
    await Promise.all([upstream.stop(), collector.stop(), load.stop()]);
    return kinds.map((kind) => {
      const ratio = (of: 'cpu' | 'requests') =>
        median(measured[kind].map((one, index) => one[of] / (measured.nothing[index]?.[of] ?? Number.NaN)));
      return {
        kind,
        cpuMicroseconds: median(measured[kind].map(({ cpu }) => cpu)),
        cpuRatio: ratio('cpu'),
        requestsRatio: ratio('requests'),
      };
    });
  } finally {
    await Promise.all(kinds.flatMap((kind) => gateways[kind].map((gateway) => gateway.remove())));
  }
}

function ofEach<T>(): Record<Kind, T[]> {
  return { nothing: [], metrics: [], 'metrics, 1 of 20 traces': [], 'metrics, every trace': [] };
}

export function observeMarkdown(results: readonly ObserveResult[]): string {
  const rows = results.map(({ kind, cpuMicroseconds, cpuRatio, requestsRatio }) => [
    kind,
    cpuMicroseconds.toFixed(0),
    `${((cpuRatio - 1) * 100).toFixed(1)} %`,
    `${((requestsRatio - 1) * 100).toFixed(1)} %`,
    kind === 'nothing'
      ? ''
      : cpuRatio <= 1 + maxOverhead
        ? 'reached'
        : `missed, at most ${maxOverhead * 100} %`,
  ]);
  return table(['a small call, with', 'CPU, µs', 'more CPU', 'more requests/s', 'target'], rows);
}
