import { writeFile } from 'node:fs/promises';
import { runProcess } from '../../client/commands/run-process.ts';
import { UsageError } from '../../client/commands/usage-error.ts';
import { type Invocation, parseCommandLine } from './command-line.ts';
import { type ConformanceOptions, runConformance } from './conformance.ts';
import { SetupError } from './context/create-context.ts';
import { operationLines, summary } from './report/console.ts';
import { junitOf } from './report/junit.ts';
import type { Report } from './report/report.ts';
import { eventLine, type RunEvent } from './report/run-event.ts';
import { Secrets } from './report/secrets.ts';

interface ProcessLike {
  env: Readonly<Record<string, string | undefined>>;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** Runs the command of this process. */
export async function main(version: string): Promise<void> {
  let isStopped = false;
  await runProcess((signal) => {
    signal.addEventListener('abort', () => (isStopped = true));
    return run(process.argv.slice(2), process, version, signal);
  });
  // Checks that wait in the background would delay the exit.
  if (isStopped) process.stdout.write('', () => process.exit());
}

/** Returns the exit code: 0 no check failed, 1 a check failed, 2 wrong options or no server to test. */
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
  const printEvent = (event: RunEvent) => {
    stdout.write(eventLine(event, (text) => secrets.mask(text)));
  };
  let printsEvents = false;
  try {
    const invocation = parseCommandLine(args, env, version, print);
    if (invocation === undefined) return 0;
    printsEvents = invocation.events;
    secrets.add(invocation.key);
    if (invocation.callbackSecret !== undefined) secrets.add(invocation.callbackSecret);
    const { events, baseUrl, seed } = invocation;
    const observe = () => (events ? eventObserver(seed, printEvent) : textObserver(baseUrl, seed, print));
    return await runAndReport(invocation, observe, signal);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SetupError)) throw error;
    const hint = error instanceof UsageError ? ' See unigate-conformance --help.' : '';
    if (printsEvents) printEvent({ type: 'run_failed', message: error.message });
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
  observe: () => Observer,
  signal: AbortSignal | undefined,
): Promise<number> {
  await createFile('--report', reportFile);
  await createFile('--junit', junit);
  const observer = observe();
  const report = await runConformance({ ...options, ...observer, signal });
  observer.onReport(report);
  if (reportFile !== undefined) await writeFile(reportFile, `${JSON.stringify(report, undefined, 2)}\n`);
  if (junit !== undefined) await writeFile(junit, junitOf(report));
  return report.failed === 0 ? 0 : 1;
}

interface Observer extends Pick<ConformanceOptions, 'onStart' | 'onCheck' | 'onWait' | 'onOperation'> {
  onReport(report: Report): void;
}

function textObserver(baseUrl: string, seed: number, print: (text: string) => void): Observer {
  print(`${baseUrl}, --seed ${seed}\n`);
  return {
    onWait: (operation, check, seconds) => print(`  … ${operation} ${check}: waiting for ${seconds} s\n`),
    onOperation: (operation, checks) => print(operationLines(operation, checks)),
    onReport: (report) => print(summary(report)),
  };
}

function eventObserver(seed: number, printEvent: (event: RunEvent) => void): Observer {
  return {
    onStart: ({ baseUrl, contract, operations }) =>
      printEvent({
        type: 'run_started',
        base_url: baseUrl,
        contract,
        seed,
        operations: operations.map(({ id }) => id),
      }),
    onCheck: (check) => printEvent({ type: 'check_finished', check }),
    onWait: (operation, check, seconds) => printEvent({ type: 'check_waiting', operation, check, seconds }),
    onReport: (report) => printEvent({ type: 'run_finished', report }),
  };
}
