import { availableParallelism, cpus, release, type } from 'node:os';
import { cores } from './processes.ts';
import type { CaseResult, Measurement, RoundOptions } from './rounds.ts';
import { type TargetName, targetNames } from './targets.ts';
import { median, spread, type Target, target } from './verdict.ts';

/** Returns the medians of the rounds of a target. */
function medians(rounds: readonly Measurement[]): Measurement {
  const of = (name: keyof Measurement) => median(rounds.map((round) => round[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    bytesPerSecond: of('bytesPerSecond'),
    cpuMicroseconds: of('cpuMicroseconds'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    othersBusy: of('othersBusy'),
  };
}

export interface CaseSummary {
  name: string;
  title: string;
  medians: Readonly<Record<TargetName, Measurement>>;
  /** Gateway relative to raw proxy: median of the ratios of the rounds, because adjacent rounds compare best. */
  ratios: { requestsPerSecond: number; bytesPerSecond: number; cpu: number };
  /** Milliseconds added to direct. */
  added: Readonly<Record<'raw' | 'gateway', { p50Ms: number; p99Ms: number; unloadedP50Ms: number }>>;
  /** Relative interquartile range of the raw proxy's rounds. */
  rawSpread: number;
  targets: readonly Target[];
}

export function summarize({ bench, rounds, unloaded }: CaseResult): CaseSummary {
  const ratio = (name: keyof Measurement) =>
    median(rounds.gateway.map((round, index) => round[name] / (rounds.raw[index]?.[name] ?? Number.NaN)));
  const medianResults = {
    direct: medians(rounds.direct),
    raw: medians(rounds.raw),
    gateway: medians(rounds.gateway),
  };
  const added = (name: 'raw' | 'gateway') => ({
    p50Ms: medianResults[name].p50Ms - medianResults.direct.p50Ms,
    p99Ms: medianResults[name].p99Ms - medianResults.direct.p99Ms,
    unloadedP50Ms: unloaded[name].p50Ms - unloaded.direct.p50Ms,
  });
  const ratios = {
    requestsPerSecond: ratio('requestsPerSecond'),
    bytesPerSecond: ratio('bytesPerSecond'),
    cpu: ratio('cpuMicroseconds'),
  };
  const { measure, share, cpu, addedMs } = bench.target;
  const found = measure === 'requests' ? ratios.requestsPerSecond : ratios.bytesPerSecond;
  const name = measure === 'requests' ? 'requests/s' : 'body bytes/s';
  const addedP50Ms = unloaded.gateway.p50Ms - unloaded.raw.p50Ms;
  const targets = [
    target(`${bench.title}: ${name}, gateway / raw proxy`, found, 'at least', share),
    ...(cpu === undefined
      ? []
      : [target(`${bench.title}: CPU, gateway / raw proxy`, ratios.cpu, 'at most', cpu)]),
    ...(addedMs === undefined
      ? []
      : [
          target(
            `${bench.title}: ms over the raw proxy, p50 of one connection`,
            addedP50Ms,
            'below',
            addedMs,
          ),
        ]),
  ];
  return {
    name: bench.name,
    title: bench.title,
    medians: medianResults,
    ratios,
    added: { raw: added('raw'), gateway: added('gateway') },
    rawSpread: spread(rounds.raw.map(({ requestsPerSecond }) => requestsPerSecond)),
    targets,
  };
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
    `${connections} keep-alive connections; medians of ${rounds} interleaved rounds of ${seconds} s over ${processes} processes each.`,
    table(
      ['gateway / raw proxy', 'requests/s', 'body bytes/s', 'CPU per request'],
      summaries.map(({ title, ratios }) => [
        title,
        ratios.requestsPerSecond.toFixed(2),
        ratios.bytesPerSecond.toFixed(2),
        ratios.cpu.toFixed(2),
      ]),
    ),
    table(
      ['case', 'target', 'requests/s', 'MB/s', 'CPU µs/request', 'p50 ms', 'p99 ms', 'load + stub busy'],
      summaries.flatMap(({ title, medians: medianResults }) =>
        targetNames.map((name) => {
          const { requestsPerSecond, bytesPerSecond, cpuMicroseconds, p50Ms, p99Ms, othersBusy } =
            medianResults[name];
          return [
            title,
            labels[name],
            requestsPerSecond.toFixed(0),
            (bytesPerSecond / 1e6).toFixed(1),
            name === 'direct' ? '' : cpuMicroseconds.toFixed(0),
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
