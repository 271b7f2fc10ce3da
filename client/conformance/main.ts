import { writeFile } from 'node:fs/promises';
import { UsageError } from '../commands/check-options.ts';
import { runProcess } from '../commands/run-process.ts';
import { type Invocation, parseCommandLine, usageText } from './command-line.ts';
import { runConformance } from './conformance.ts';
import { operationLines, summary } from './report/console.ts';
import { junitOf } from './report/junit.ts';
import { Unfit } from './subject/open-world.ts';

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Runs the kit as the command of this process. */
export async function main(version: string): Promise<void> {
  await runProcess((signal) => run(process.argv.slice(2), process, version, signal));
}

/** Gives the exit code: 0 all is as documented, 1 something is not, 2 wrong flags or no server to try. */
export async function run(
  args: string[],
  { env, stdout, stderr }: Surroundings,
  version: string,
  signal?: AbortSignal,
): Promise<number> {
  let key = env.UNIGATE_API_KEY;
  const tell = (text: string) => {
    // The key stands in no line, wherever an answer may have repeated it.
    stdout.write(key ? text.replaceAll(key, '***') : text);
  };
  try {
    const invocation = parseCommandLine(args, env);
    if (invocation === 'help') tell(usageText);
    else if (invocation === 'version') tell(`${version}\n`);
    else {
      ({ key } = invocation);
      return await conform(invocation, tell, signal);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof Unfit)) throw error;
    const hint = error instanceof UsageError ? ' See unigate-conformance --help.' : '';
    const line = `unigate-conformance: ${error.message}${hint}\n`;
    stderr.write(key ? line.replaceAll(key, '***') : line);
    return 2;
  }
}

/** @throws UsageError before anything is tried, rather than after it */
async function writable(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  await writeFile(file, '').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${file} cannot be written (${error.code}).`);
  });
}

async function conform(
  { report: reportFile, junit, ...options }: Invocation,
  tell: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { key } = options;
  await writable('--report', reportFile);
  await writable('--junit', junit);
  tell(`${options.baseUrl}, --seed ${options.seed}\n`);
  const report = await runConformance({
    ...options,
    signal,
    onOperation: (operation, checks) => tell(operationLines(operation, checks)),
  });
  tell(summary(report));
  const masked = (text: string) => text.replaceAll(key, '***');
  if (reportFile !== undefined)
    await writeFile(reportFile, masked(`${JSON.stringify(report, undefined, 2)}\n`));
  if (junit !== undefined) await writeFile(junit, masked(junitOf(report)));
  return report.failed === 0 ? 0 : 1;
}
