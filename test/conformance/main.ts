import { writeFile } from 'node:fs/promises';
import { runProcess } from '../../client/commands/run-process.ts';
import { UsageError } from '../../client/commands/usage-error.ts';
import { type Invocation, parseCommandLine } from './command-line.ts';
import { runConformance } from './conformance.ts';
import { SetupError } from './context/create-context.ts';
import { operationLines, summary } from './report/console.ts';
import { junitOf } from './report/junit.ts';

interface ProcessLike {
  env: Readonly<Record<string, string | undefined>>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Runs the command of this process. */
export async function main(version: string): Promise<void> {
  await runProcess((signal) => run(process.argv.slice(2), process, version, signal));
}

/** Returns the exit code: 0 all checks passed, 1 a check failed, 2 wrong options or no server to test. */
export async function run(
  args: string[],
  { env, stdout, stderr }: ProcessLike,
  version: string,
  signal?: AbortSignal,
): Promise<number> {
  let key = env.UNIGATE_API_KEY;
  const print = (text: string) => {
    // A response may repeat the key. The output must not contain it.
    stdout.write(key ? text.replaceAll(key, '***') : text);
  };
  try {
    const invocation = parseCommandLine(args, env, version, print);
    if (invocation === undefined) return 0;
    ({ key } = invocation);
    return await runAndReport(invocation, print, signal);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SetupError)) throw error;
    const hint = error instanceof UsageError ? ' See unigate-conformance --help.' : '';
    const line = `unigate-conformance: ${error.message}${hint}\n`;
    stderr.write(key ? line.replaceAll(key, '***') : line);
    return 2;
  }
}

/** Creates a report file before the run starts. @throws UsageError when that fails */
async function createFile(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  await writeFile(file, '').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${file} cannot be written (${error.code}).`);
  });
}

async function runAndReport(
  { report: reportFile, junit, ...options }: Invocation,
  print: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { key } = options;
  await createFile('--report', reportFile);
  await createFile('--junit', junit);
  print(`${options.baseUrl}, --seed ${options.seed}\n`);
  const report = await runConformance({
    ...options,
    signal,
    onOperation: (operation, checks) => print(operationLines(operation, checks)),
  });
  print(summary(report));
  const masked = (text: string) => text.replaceAll(key, '***');
  if (reportFile !== undefined)
    await writeFile(reportFile, masked(`${JSON.stringify(report, undefined, 2)}\n`));
  if (junit !== undefined) await writeFile(junit, masked(junitOf(report)));
  return report.failed === 0 ? 0 : 1;
}
