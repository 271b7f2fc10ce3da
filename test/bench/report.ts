import { availableParallelism, cpus, release, type } from 'node:os';
import { cores } from './processes.ts';
import type { CaseResult, Measurement, RoundOptions } from './rounds.ts';
import { type TargetName, targetNames } from './targets.ts';
import { maxSpread, median, spread, type Target, target } from './verdict.ts';

type Figures = Omit<Measurement, 'process'>;

/** Returns the medians of the rounds of a target. */
function medians(rounds: readonly Figures[]): Figures {
  const of = (name: keyof Figures) => median(rounds.map((round) => round[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    bytesPerSecond: of('bytesPerSecond'),
    cpuMicroseconds: of('cpuMicroseconds'),
    stubCpuMicroseconds: of('stubCpuMicroseconds'),
    loadCpuMicroseconds: of('loadCpuMicroseconds'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    othersBusy: of('othersBusy'),
  };
}

/** Returns the rounds of the process that answers the most requests per second. */
function fastestProcess(rounds: readonly Measurement[]): readonly Measurement[] {
  const processes = Map.groupBy(rounds, ({ process }) => process);
  const speed = (own: readonly Measurement[]) => medians(own).requestsPerSecond;
  return [...processes.values()].reduce((best, own) => (speed(own) > speed(best) ? own : best));
}

export interface CaseSummary {
  name: string;
  title: string;
  /** Of the raw proxy: those of its fastest process. */
  medians: Readonly<Record<TargetName, Figures>>;
  /** Gateway relative to raw proxy. Undefined if the rounds of the raw proxy differ too much. */
  ratios: { requestsPerSecond: number; bytesPerSecond: number; cpu: number } | undefined;
  /** Milliseconds added to direct. */
  added: Readonly<Record<'raw' | 'gateway', { p50Ms: number; p99Ms: number; unloadedP50Ms: number }>>;
  /** Relative interquartile range of the rounds of the fastest raw proxy. */
  rawSpread: number;
  targets: readonly Target[];
}

/** Compares the gateway with the fastest process of the raw proxy, since the compiler optimizes each process differently. */
export function summarize({ bench, rounds, unloaded }: CaseResult): CaseSummary {
  const rawRounds = fastestProcess(rounds.raw);
  const direct = medians(rounds.direct);
  const raw = medians(rawRounds);
  const gateway = medians(rounds.gateway);
  const rawSpread = spread(rawRounds.map(({ requestsPerSecond }) => requestsPerSecond));
  const added = (name: 'raw' | 'gateway') => ({
    p50Ms: { raw, gateway }[name].p50Ms - direct.p50Ms,
    p99Ms: { raw, gateway }[name].p99Ms - direct.p99Ms,
    unloadedP50Ms: unloaded[name].p50Ms - unloaded.direct.p50Ms,
  });
  const ratios =
    rawSpread > maxSpread
      ? undefined
      : {
          requestsPerSecond: gateway.requestsPerSecond / raw.requestsPerSecond,
          bytesPerSecond: gateway.bytesPerSecond / raw.bytesPerSecond,
          cpu: gateway.cpuMicroseconds / raw.cpuMicroseconds,
        };
  const addedP50Ms = unloaded.gateway.p50Ms - unloaded.raw.p50Ms;
  return {
    name: bench.name,
    title: bench.title,
    medians: { direct, raw, gateway },
    ratios,
    added: { raw: added('raw'), gateway: added('gateway') },
    rawSpread,
    targets: ratios === undefined ? [] : targetsOf(bench, ratios, gateway.cpuMicroseconds, addedP50Ms),
  };
}

/** Returns the target for the CPU of a small call on another path, if both paths were measured. */
export function pathTargets(summaries: readonly CaseSummary[]): Target[] {
  const cpuOf = (name: string) => summaries.find((one) => one.name === name)?.medians.gateway.cpuMicroseconds;
  const [first, other] = [cpuOf('json'), cpuOf('multimodal')];
  if (first === undefined || other === undefined) return [];
  return [target('small JSON: CPU of the gateway, another path / first', other / first, 'at most', 1.1)];
}

function targetsOf(
  { title, target: { measure, share, cpuMicroseconds, addedMs } }: CaseResult['bench'],
  ratios: NonNullable<CaseSummary['ratios']>,
  cpu: number,
  addedP50Ms: number,
): Target[] {
  const [name, found] =
    measure === 'requests'
      ? ['requests/s', ratios.requestsPerSecond]
      : (['body bytes/s', ratios.bytesPerSecond] as const);
  return [
    target(`${title}: ${name}, gateway / raw proxy`, found, 'at least', share),
    ...(cpuMicroseconds === undefined
      ? []
      : [target(`${title}: CPU of the gateway per request, µs`, cpu, 'at most', cpuMicroseconds)]),
    ...(addedMs === undefined
      ? []
      : [target(`${title}: ms over the raw proxy, p50 of one connection`, addedP50Ms, 'below', addedMs)]),
  ];
}

export function machine(): string {
  const processor = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores`;
  const pinning =
    cores === undefined
      ? 'processes not pinned'
      : `process under test on core ${cores.measured}, load tool and stub on core ${cores.others}`;
  return `${processor}; ${type()} ${release()}; Node ${process.version}; ${pinning}`;
}

/** Formats the HTTP cases as Markdown for the README. */
export function markdown(
  summaries: readonly CaseSummary[],
  { rounds, seconds, connections, processes }: RoundOptions & { processes: number },
): string {
  const labels: Readonly<Record<TargetName, string>> = {
    direct: 'direct',
    raw: 'raw proxy',
    gateway: 'gateway',
  };
  return [
    `${connections} keep-alive connections; medians of ${rounds} interleaved rounds of ${seconds} s on each of ${processes} processes. The raw proxy is the fastest of its processes.`,
    table(
      ['gateway / raw proxy', 'requests/s', 'body bytes/s', 'CPU per request'],
      summaries.map(({ title, ratios }) => [
        title,
        ...(ratios === undefined
          ? ['unsteady', 'unsteady', 'unsteady']
          : [ratios.requestsPerSecond, ratios.bytesPerSecond, ratios.cpu].map((ratio) => ratio.toFixed(2))),
      ]),
    ),
    table(
      [
        'case',
        'target',
        'requests/s',
        'MB/s',
        'CPU µs/request',
        'of the stub',
        'of the load tool',
        'p50 ms',
        'p99 ms',
        'load + stub busy',
      ],
      summaries.flatMap(({ title, medians: medianResults }) =>
        targetNames.map((name) => {
          const { requestsPerSecond, bytesPerSecond, cpuMicroseconds, p50Ms, p99Ms, othersBusy, ...others } =
            medianResults[name];
          return [
            title,
            labels[name],
            requestsPerSecond.toFixed(0),
            (bytesPerSecond / 1e6).toFixed(1),
            name === 'direct' ? '' : cpuMicroseconds.toFixed(0),
            others.stubCpuMicroseconds.toFixed(0),
            others.loadCpuMicroseconds.toFixed(0),
            p50Ms.toFixed(2),
            p99Ms.toFixed(2),
            `${(othersBusy * 100).toFixed(0)} %`,
          ];
        }),
      ),
    ),
    table(
      ['added latency over direct, ms', 'target', 'p50', 'p99', 'p50, one connection'],
      summaries.flatMap(({ title, added }) =>
        (['raw', 'gateway'] as const).map((name) => [
          title,
          labels[name],
          added[name].p50Ms.toFixed(2),
          added[name].p99Ms.toFixed(2),
          added[name].unloadedP50Ms.toFixed(2),
        ]),
      ),
    ),
  ].join('\n\n');
}

/** Formats a Markdown table. All columns except the first are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const separator = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [line(head), line(separator), ...rows.map(line)].join('\n');
}
