import { countOf } from './open-files.ts';
import type { SoakReport } from './soak.ts';

/** A report for people, the verdict last. */
export function inWords(report: SoakReport): string {
  const { engine, seed, seconds, calls, tasks, kills, outcomes, slowest, books, footprints, judged, faults } =
    report;
  const figures = footprints.map(({ warm, end }, index) =>
    [
      `gateway ${index + 1}: resident ${warm.residentMb.toFixed(1)} MB after warm-up, ${end.residentMb.toFixed(1)} at the end`,
      `; open files ${countOf(warm.openFiles)}, ${countOf(end.openFiles)}${judged.memory ? '' : '; too short to judge memory'}`,
    ].join(''),
  );
  return [
    ...Object.entries(outcomes).map(([name, count]) => `${String(count).padStart(8)}  ${name}`),
    `${engine}, seed ${seed}, ${seconds} s: ${calls} requests, ${tasks} tasks, ${kills} kills`,
    `the slowest answer took ${(slowest.ms / 1_000).toFixed(1)} s: ${slowest.kind}`,
    `granted ${books.granted} = left ${books.left} + held ${books.held} + leased ${books.leased} + spent ${books.spent}`,
    ...figures,
    ...(faults.length === 0
      ? ['passed']
      : [`FAILED, ${faults.length} faults:`, ...faults.map((one) => `- ${one}`)]),
  ].join('\n');
}
