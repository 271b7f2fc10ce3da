import { writeFile } from 'node:fs/promises';
import { runProcess } from '../../client/commands/run-process.ts';
import { UsageError } from '../../client/commands/usage-error.ts';
import { type Invocation, parseCommandLine } from './command-line.ts';
import { runConformance } from './conformance.ts';
import { SetupError } from './context/create-context.ts';
import { operationLines, summary } from './report/console.ts';
import { junitOf } from './report/junit.ts';
import { Secrets } from './report/secrets.ts';

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
  const secrets = new Secrets([env.UNIGATE_API_KEY, env.UNIGATE_CALLBACK_SECRET]);
  const print = (text: string) => {
    stdout.write(secrets.mask(text));
  };
  try {
    const invocation = parseCommandLine(args, env, version, print);
    if (invocation === undefined) return 0;
    secrets.add(invocation.key);
    if (invocation.callbackSecret !== undefined) secrets.add(invocation.callbackSecret);
    return await runAndReport(invocation, print, signal);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SetupError)) throw error;
    const hint = error instanceof UsageError ? ' See unigate-conformance --help.' : '';
    stderr.write(secrets.mask(`unigate-conformance: ${error.message}${hint}\n`));
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
  await createFile('--report', reportFile);
  await createFile('--junit', junit);
  print(`${options.baseUrl}, --seed ${options.seed}\n`);
  const report = await runConformance({
    ...options,
    signal,
    onWait: (operation, check, seconds) => print(`  … ${operation} ${check}: waiting for ${seconds} s\n`),
    onOperation: (operation, checks) => print(operationLines(operation, checks)),
  });
  print(summary(report));
  if (reportFile !== undefined) await writeFile(reportFile, `${JSON.stringify(report, undefined, 2)}\n`);
  if (junit !== undefined) await writeFile(junit, junitOf(report));
  return report.failed === 0 ? 0 : 1;
}
