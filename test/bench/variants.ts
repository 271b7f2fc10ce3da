import { type BenchCase, characters } from './cases.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { here, LoadProcess, ServerProcess } from './processes.ts';
import { checkOne, measureLoad, requestText } from './rounds.ts';
import { median } from './verdict.ts';

/** A gateway that is compared with others. */
export interface Variant {
  name: string;
  /** The gateway's main module. */
  server: string;
  environment: Readonly<Record<string, string>>;
  /** False for a version whose ledger may have another schema. */
  checksLedger: boolean;
}

export interface VariantOptions {
  rounds: number;
  seconds: number;
  connections: number;
  processes: number;
}

/** Medians of the rounds, and the medians of the ratios to the first variant. */
export interface VariantResult {
  name: string;
  /** CPU per request, in microseconds. */
  cpuMicroseconds: number;
  cpuRatio: number;
  requestsRatio: number;
  /** Ratios to the first variant of each set of processes. */
  sets: readonly Ratios[];
}

/** Medians over the rounds of a set of processes. */
interface Ratios {
  cpu: number;
  requests: number;
}

const warmUpSeconds = 3;

/**
 * Measures the same call on several variants of the gateway, in interleaved rounds. The first variant is the baseline. The
 * compiler optimizes the same code differently in each process, so the rounds are repeated with new processes.
 */
export async function measureVariants(
  bench: BenchCase,
  variants: readonly Variant[],
  options: VariantOptions,
): Promise<VariantResult[]> {
  const upstream = await ServerProcess.start({ module: here('upstream.ts'), core: 'others' });
  const load = new LoadProcess<LoadRequest, LoadResult>('load.ts');
  const request = requestText(bench);
  const { connections } = options;
  const runRound = async (one: MeasuredGateway, seconds: number) => {
    const { server } = one.gateway;
    const { bodyBytes } = one;
    const result = await measureLoad(load, server, { request, connections, seconds, bodyBytes });
    one.responses += result.responses;
    return { cpu: result.serverCpu, requests: result.requestsPerSecond };
  };
  const sets: MeasuredGateway[][] = [];
  try {
    while (sets.length < options.processes) {
      const set: MeasuredGateway[] = [];
      sets.push(set);
      for (const variant of variants) {
        const gateway = await startGateway(
          variant.server,
          upstream.origin,
          undefined,
          ['native'],
          variant.environment,
        );
        const bodyBytes = await checkOne(variant.name, gateway.server, bench);
        set.push({ variant, gateway, bodyBytes, responses: 1, rounds: [] });
      }
      // The first load also warms up the upstream and the load tool, so each gateway is warmed up twice.
      for (const one of [...set, ...set]) await runRound(one, warmUpSeconds);
      for (let index = 0; index < options.rounds; index += 1) {
        // Rotates the order of the variants.
        const first = index % variants.length;
        for (const one of [...set.slice(first), ...set.slice(0, first)])
          one.rounds.push(await runRound(one, options.seconds));
      }
      for (const { variant, gateway, responses } of set)
        await gateway.stop(
          variant.checksLedger ? { responses, charged: responses * characters } : 'unchecked',
        );
    }
    await Promise.all([upstream.stop(), load.stop()]);
    return variants.map(({ name }, position) => summarize(name, position, sets));
  } finally {
    await Promise.all(sets.flat().map(({ gateway }) => gateway.remove()));
  }
}

interface Round {
  cpu: number;
  requests: number;
}

interface MeasuredGateway {
  variant: Variant;
  gateway: RunningGateway;
  bodyBytes: number;
  responses: number;
  rounds: Round[];
}

function summarize(
  name: string,
  position: number,
  sets: readonly (readonly MeasuredGateway[])[],
): VariantResult {
  const pairsOf = (set: readonly MeasuredGateway[]) =>
    (set[position]?.rounds ?? []).flatMap((own, index) => {
      const base = set[0]?.rounds[index];
      return base === undefined ? [] : [{ own, base }];
    });
  const ratiosOf = (pairs: readonly { own: Round; base: Round }[]): Ratios => ({
    cpu: median(pairs.map(({ own, base }) => own.cpu / base.cpu)),
    requests: median(pairs.map(({ own, base }) => own.requests / base.requests)),
  });
  const all = sets.flatMap(pairsOf);
  const { cpu, requests } = ratiosOf(all);
  return {
    name,
    cpuMicroseconds: median(all.map(({ own }) => own.cpu)),
    cpuRatio: cpu,
    requestsRatio: requests,
    sets: sets.map((set) => ratiosOf(pairsOf(set))),
  };
}
