import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changedInputs } from './sandbox-changes.ts';
import { type Report, tally, together } from './tally.ts';

/**
 * `npm test`: everything that must hold. The static checks run beside the first tests, and one that fails ends it all; two
 * minutes of soak go on beside both. The sandbox's own tests are left out while nothing that they look at has changed, but in CI
 * or with `--all`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
  // Hundreds of processes are started: each would compile the same modules anew.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
  TMPDIR: await scratch(),
};

interface Step {
  title: string;
  command: [string, ...string[]];
  /** Folder below the root; default: the root. */
  folder?: string;
}

/** What the compiler knows of its last run. */
const compiled = join(root, 'node_modules/.cache/types.tsbuildinfo');

const staticSteps: readonly Step[] = [
  { title: 'types', command: ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', compiled] },
  // What does not pass the lint is not generated from either.
  {
    title: 'spec lint and generated files',
    command: ['node', 'generate.ts', '--check'],
    folder: 'openapi/tools',
  },
  { title: 'event document', command: ['node', 'openapi/tools/check-asyncapi.ts'] },
  { title: 'code lint', command: ['oxlint', '--type-aware'] },
  { title: 'format', command: ['biome', 'check', '.'] },
  {
    title: 'unused files and packages',
    command: ['knip', '--no-progress', '--include', 'files,dependencies,unlisted,unresolved'],
  },
];

/** Beside everything else from the first moment, since it takes minutes and little of the machine. */
const soak: Step = { title: 'two minutes of soak', command: ['node', 'test/soak/two-minutes.ts'] };

interface Outcome {
  code: number;
  output: string;
}

/** Runs a command; its output is kept, or goes straight through when it is `shown`. */
function run(
  { command: [name, ...args], folder = '.' }: Step,
  { shown = false, signal }: { shown?: boolean; signal?: AbortSignal } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
      signal,
      cwd: join(root, folder),
      env,
      stdio: shown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      // Windows finds the tools' start scripts only through a shell.
      shell: process.platform === 'win32',
    });
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}

/** Runs a step and tells how it went, with its output where it failed. */
async function passes(step: Step, signal?: AbortSignal): Promise<boolean> {
  const begun = performance.now();
  const { code, output } = await run(step, { signal });
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  if (code === 0) console.log(`ok      ${step.title} (${seconds} s)`);
  else console.log(`FAILED  ${step.title}: ${step.command.join(' ')}\n${output}`);
  return code === 0;
}

/** Gives the title of the first that fails; no other is begun then. */
async function runStatic(): Promise<string | undefined> {
  for (const step of staticSteps) if (!(await passes(step))) return step.title;
  return undefined;
}

/**
 * Runs the tests and gives the closing lines from the runner's own reports, with the exit code. The contract's tests have
 * a runner of their own, beside the others': its gateways are gone when they are done. What it says comes at its end.
 */
async function runTests(
  others: readonly string[],
  signal: AbortSignal,
): Promise<{ code: number; lines: string[] }> {
  const folder = await mkdtemp(join(env.TMPDIR, 'unigate-report-'));
  try {
    const runs = [
      { projects: ['contract'], shown: false },
      { projects: others, shown: true },
    ].map(async ({ projects, shown }) => {
      const report = join(folder, `${projects.join('-')}.json`);
      const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
      const chosen = projects.map((name) => `--project=${name}`);
      const command: Step['command'] = ['vitest', 'run', ...chosen, ...reporters];
      const { code, output } = await run({ title: 'tests', command }, { shown, signal });
      process.stdout.write(output);
      return { code, report: JSON.parse(await readFile(report, 'utf8')) as Report };
    });
    const done = (await Promise.allSettled(runs)).map((ended) => {
      if (ended.status === 'rejected') throw ended.reason;
      return ended.value;
    });
    const { lines, counts } = tally(together(done.map(({ report }) => report)));
    const code = Math.max(...done.map((one) => one.code));
    return { code: counts ? code : code || 1, lines };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Tests write many small files, which need no disk: memory where there is enough of it. */
async function scratch(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return process.env.TMPDIR === undefined && bavail * bsize > 4 * 1024 ** 3 ? memory : tmpdir();
}

/** Whether the sandbox's own tests are to be run. */
async function sandboxIsDue(): Promise<boolean> {
  const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
  if (values.all || process.env.CI === 'true') return true;
  const changed = await changedInputs(root);
  return changed === undefined || changed.length > 0;
}

async function main(): Promise<number> {
  const due = await sandboxIsDue();
  const over = new AbortController();
  const soaked = passes(soak, over.signal).catch(() => false);
  const tests = runTests(['unit', ...(due ? ['sandbox'] : [])], over.signal).catch((error: unknown) => {
    if (over.signal.aborted) return undefined;
    throw error;
  });
  const failed = await runStatic();
  if (failed !== undefined) over.abort();
  const outcome = await tests;
  const soakPassed = await soaked;
  if (failed !== undefined || outcome === undefined) {
    console.log(`stopped before the end of the tests: ${failed}`);
    return 1;
  }
  if (!due)
    console.log("left out: the sandbox's own tests, since nothing they look at has changed (-- --all)");
  for (const line of outcome.lines) console.log(line);
  return soakPassed ? outcome.code : outcome.code || 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  // An option that it does not know.
  if (!(error instanceof TypeError && 'code' in error)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
