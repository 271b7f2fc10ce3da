import { countFiles } from './open-files.ts';
import type { SoakReport } from './soak.ts';

/** Formats a report as text. The result is the last line. */
export function formatReport(report: SoakReport): string {
  const {
    engine,
    seed,
    seconds,
    calls,
    tasks,
    kills,
    outcomes,
    slowest,
    ledger,
    footprints,
    checked,
    faults,
  } = report;
  const figures = footprints.map(({ warm, end }, index) =>
    [
      `gateway ${index + 1}: resident ${warm.residentMb.toFixed(1)} MB after warm-up, ${end.residentMb.toFixed(1)} at the end`,
      `; open files ${countFiles(warm.openFiles)}, ${countFiles(end.openFiles)}${checked.memory ? '' : '; too short to check memory'}`,
    ].join(''),
  );
  return [
    ...Object.entries(outcomes).map(([name, count]) => `${String(count).padStart(8)}  ${name}`),
    `${engine}, seed ${seed}, ${seconds} s: ${calls} requests, ${tasks} tasks, ${kills} kills`,
    `the slowest response took ${(slowest.ms / 1_000).toFixed(1)} s: ${slowest.kind}`,
    `granted ${ledger.granted} = remaining ${ledger.left} + held ${ledger.held} + leased ${ledger.leased} + spent ${ledger.spent}`,
    ...figures,
    ...(faults.length === 0
      ? ['passed']
      : [`FAILED, ${faults.length} faults:`, ...faults.map((one) => `- ${one}`)]),
  ].join('\n');
}
