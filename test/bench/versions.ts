import type { BenchCase } from './cases.ts';
import { table } from './report.ts';
import { measureVariants, type VariantOptions, type VariantResult } from './variants.ts';
import { type Target, target } from './verdict.ts';

/** Maximum CPU per request, relative to the other version. */
const maxCpu = 1.03;

/** The gateway relative to the other version. */
export interface VersionResult extends VariantResult {
  title: string;
}

/** Compares two versions of the gateway. `server` and `base` are their main modules. */
export async function measureVersions(
  cases: readonly BenchCase[],
  { server, base, ...options }: VariantOptions & { server: string; base: string },
): Promise<VersionResult[]> {
  const results: VersionResult[] = [];
  for (const bench of cases) {
    const measured = await measureVariants(
      bench,
      [
        { name: 'base', server: base, environment: {}, checksLedger: false },
        { name: 'gateway', server, environment: {}, checksLedger: true },
      ],
      options,
    );
    results.push(...measured.slice(1).map((result) => ({ ...result, title: bench.title })));
  }
  return results;
}

export function versionTargets(results: readonly VersionResult[]): Target[] {
  return results.map(({ title, cpuRatio }) =>
    target(`${title}: CPU, gateway / base`, cpuRatio, 'at most', maxCpu),
  );
}

export function versionsMarkdown(results: readonly VersionResult[]): string {
  return table(
    ['gateway / base', 'requests/s', 'CPU per request'],
    results.map(({ title, requestsRatio, cpuRatio }) => [
      title,
      requestsRatio.toFixed(3),
      cpuRatio.toFixed(3),
    ]),
  );
}
