import { spawnSync } from 'node:child_process';

/** Whether Prometheus and its tool are installed. In CI they must be. */
export const hasPrometheus =
  process.env.CI === 'true' || spawnSync('promtool', ['--version']).error === undefined;

/** Runs `promtool`. Returns its exit code and everything that it printed. */
export function promtool(
  args: readonly string[],
  { input = '' } = {},
): { code: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { code: status, output: stdout + stderr };
}
