import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Leaf, unchanged } from './leaves.ts';
import { asReport, type Report, tally, together } from './tally.ts';
import { makeThreadFiles } from './thread-files.ts';

/**
 * `npm test`: everything that must hold. The static checks run beside the first tests, and one that fails ends it all. In CI, and
 * with `--all`, two minutes of soak go on beside both, and no leaf is left out because nothing that it looks at has changed.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
  // Hundreds of processes are started: each would compile the same modules anew.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
  THREAD_FILES: JSON.stringify(await makeThreadFiles()),
  TMPDIR: await scratch(),
};

interface Step {
  title: string;
  command: [string, ...string[]];
  /** Folder below the root; default: the root. */
  folder?: string;
  /** Whether its last line is printed when it passes. */
  showsResult?: boolean;
  /** Variables of its environment beside those of all. */
  vars?: Readonly<Record<string, string>>;
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
  { title: 'words of the texts', command: ['node', 'test/support/prose/main.ts'], showsResult: true },
  { title: 'commit messages', command: ['node', 'test/support/commit-messages.ts'], showsResult: true },
  { title: 'format', command: ['biome', 'check', '.'] },
  {
    title: 'unused files and packages',
    command: ['knip', '--no-progress', '--include', 'files,dependencies,unlisted,unresolved'],
  },
];

/** Beside everything else from the first moment, since it takes minutes; it counts as one test. */
const soak: Step = { title: 'two minutes of soak', command: ['node', 'test/soak/two-minutes.ts'] };

interface Outcome {
  code: number;
  output: string;
}

/** Runs a command; its output is kept, or goes straight through when it is `shown`. */
function run(
  { command: [name, ...args], folder = '.', vars }: Step,
  { shown = false, signal }: { shown?: boolean; signal?: AbortSignal } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
      signal,
      cwd: join(root, folder),
      env: { ...env, ...vars },
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
  const result = step.showsResult ? `: ${output.trim().split('\n').at(-1)}` : '';
  if (code === 0) console.log(`ok      ${step.title} (${seconds} s)${result}`);
  else console.log(`FAILED  ${step.title}: ${step.command.join(' ')}\n${output}`);
  return code === 0;
}

/** Gives the title of the first that fails; no other is begun then. */
async function runStatic(): Promise<string | undefined> {
  for (const step of staticSteps) if (!(await passes(step))) return step.title;
  return undefined;
}

/**
 * Runs all tests but those of some leaves and gives what the runners report, with the exit code. The contract's tests have
 * a runner of their own, beside the others': its gateways are gone when they are done. What it says comes at its end.
 */
async function runTests(
  leftOut: readonly Leaf[],
  signal: AbortSignal,
): Promise<{ code: number; reports: Report[] }> {
  const folder = await mkdtemp(join(env.TMPDIR, 'unigate-report-'));
  const globs = leftOut.flatMap(({ tests }) =>
    tests.map((path) => (path.endsWith('/') ? `${path}**` : path)),
  );
  const vars: Record<string, string> = globs.length === 0 ? {} : { TESTS_LEFT_OUT: globs.join(',') };
  try {
    const runs = [
      { projects: ['contract'], shown: false },
      { projects: ['unit', 'sandbox'], shown: true },
    ].map(async ({ projects, shown }) => {
      const report = join(folder, `${projects.join('-')}.json`);
      const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
      const chosen = projects.map((name) => `--project=${name}`);
      const command: Step['command'] = ['vitest', 'run', ...chosen, ...reporters];
      const { code, output } = await run({ title: 'tests', command, vars }, { shown, signal });
      process.stdout.write(output);
      return { code, report: JSON.parse(await readFile(report, 'utf8')) as Report };
    });
    const done = (await Promise.allSettled(runs)).map((ended) => {
      if (ended.status === 'rejected') throw ended.reason;
      return ended.value;
    });
    return {
      code: Math.max(...done.map((one) => one.code)),
      reports: done.map(({ report }) => report),
    };
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

/** Whether nothing is to be left out. */
function everything(): boolean {
  const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
  return values.all || process.env.CI === 'true';
}

async function main(): Promise<number> {
  const whole = everything();
  const leftOut = whole ? [] : await unchanged(root);
  const over = new AbortController();
  const soaked = whole ? passes(soak, over.signal).catch(() => false) : undefined;
  const tests = runTests(leftOut, over.signal).catch((error: unknown) => {
    if (over.signal.aborted) return undefined;
    throw error;
  });
  const failed = await runStatic();
  if (failed !== undefined) over.abort();
  const ran = await tests;
  const soakPassed = await soaked;
  if (failed !== undefined || ran === undefined) {
    console.log(`stopped before the end of the tests: ${failed}`);
    return 1;
  }
  const reports = soakPassed === undefined ? ran.reports : [...ran.reports, asReport(soak.title, soakPassed)];
  const { lines, counts } = tally(together(reports));
  if (leftOut.length > 0) {
    const titles = leftOut.map(({ title }) => title).join(', ');
    console.log(`not run, because no file they depend on has changed since main: ${titles}`);
  }
  if (soakPassed === undefined) {
    console.log(`not run: ${soak.title}`);
    console.log(
      '`npm test -- --all` runs these too; `.ci/run` also installs the programs that skipped tests need',
    );
  }
  for (const line of lines) console.log(line);
  return counts && soakPassed !== false ? ran.code : ran.code || 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  // An option that it does not know.
  if (!(error instanceof TypeError && 'code' in error)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
