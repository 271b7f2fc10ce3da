import { type BenchCase, characters } from './cases.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { LoadProcess } from './processes.ts';
import { type CaseSummary, summarize } from './report.ts';
import { type CaseResult, type RoundOptions, Rounds } from './rounds.ts';
import { type GatewayStart, type TargetOptions, Targets } from './targets.ts';

/** Measures the HTTP cases. @throws Error if a response or the final ledger is wrong */
export async function measureHttp(
  cases: readonly BenchCase[],
  options: RoundOptions & Pick<TargetOptions, 'server' | 'profile' | 'processes'>,
): Promise<{ cases: CaseSummary[]; starts: readonly GatewayStart[] }> {
  const targets = await Targets.start({ ...options, upstream: 'upstream.ts', raw: 'raw-proxy.ts' });
  try {
    const load = new LoadProcess<LoadRequest, LoadResult>('load.ts');
    const rounds = new Rounds(targets, load);
    const results: CaseResult[] = [];
    for (const bench of cases) {
      console.error(`measuring ${bench.title}`);
      results.push(await rounds.measure(bench, options));
    }
    await targets.stop((server) => {
      const responses = rounds.responsesOf(server);
      return { responses, charged: responses * characters };
    }, 'responses');
    await load.stop();
    return { cases: results.map(summarize), starts: targets.starts };
  } finally {
    await targets.remove();
  }
}
