import type { BenchCase } from './cases.ts';
import { table } from './report.ts';
import { measureVariants, type VariantOptions, type VariantResult } from './variants.ts';
import { type Interval, median, medianInterval } from './verdict.ts';

/** This version of the gateway relative to another one: the median over the pairs of processes, and its interval. */
export interface Comparison {
  title: string;
  measure: 'requests/s' | 'CPU per request';
  ratio: number;
  interval: Interval;
  verdict: 'faster' | 'slower' | 'indistinguishable';
}

/** Compares two versions of the gateway. `server` and `base` are their main modules. */
export async function compareVersions(
  cases: readonly BenchCase[],
  { server, base, ...options }: VariantOptions & { server: string; base: string },
): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const bench of cases) {
    console.error(`comparing ${bench.title}`);
    const [, measured] = await measureVariants(
      bench,
      [
        { name: 'base', server: base, environment: {}, checksLedger: false },
        { name: 'gateway', server, environment: {}, checksLedger: true },
      ],
      options,
    );
    if (measured !== undefined) results.push(...comparisonsOf(bench.title, measured.sets));
  }
  return results;
}

/** Compares both measures of a case. */
export function comparisonsOf(title: string, sets: VariantResult['sets']): Comparison[] {
  const compare = (measure: Comparison['measure'], ratios: number[], higherIs: 'faster' | 'slower') => {
    const interval = medianInterval(ratios);
    const lowerIs = higherIs === 'faster' ? 'slower' : 'faster';
    const verdict = interval.low > 1 ? higherIs : interval.high < 1 ? lowerIs : 'indistinguishable';
    return { title, measure, ratio: median(ratios), interval, verdict } satisfies Comparison;
  };
  return [
    compare(
      'requests/s',
      sets.map(({ requests }) => requests),
      'faster',
    ),
    compare(
      'CPU per request',
      sets.map(({ cpu }) => cpu),
      'slower',
    ),
  ];
}

export function comparisonMarkdown(comparisons: readonly Comparison[]): string {
  return table(
    ['this version / the other', 'measure', 'ratio', '95 % interval', 'verdict'],
    comparisons.map(({ title, measure, ratio, interval, verdict }) => [
      title,
      measure,
      ratio.toFixed(3),
      `${interval.low.toFixed(3)} to ${interval.high.toFixed(3)}`,
      verdict,
    ]),
  );
}
