import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Report, tally } from './tally.ts';

/** `npm test`: everything that must hold. Static checks first, then the tests; the first failure ends it. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
  // Hundreds of processes are started: each would compile the same modules anew.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
};

interface Step {
  title: string;
  command: [string, ...string[]];
  /** Folder below the root; default: the root. */
  folder?: string;
}

const staticSteps: readonly Step[] = [
  { title: 'types', command: ['tsc', '--noEmit'] },
  { title: 'generated files', command: ['node', 'generate.ts', '--check'], folder: 'openapi/tools' },
  { title: 'spec lint', command: ['redocly', 'lint'] },
  { title: 'event document', command: ['node', 'openapi/tools/check-asyncapi.ts'] },
  { title: 'code lint', command: ['oxlint', '--type-aware'] },
  { title: 'format', command: ['biome', 'check', '.'] },
  {
    title: 'unused files and packages',
    command: ['knip', '--no-progress', '--include', 'files,dependencies,unlisted,unresolved'],
  },
];

/** So many at once as the smallest usual machine has cores. */
const concurrency = 2;

interface Outcome {
  code: number;
  output: string;
}

/** Runs a command; its output is kept, or goes straight through when it is `shown`. */
function run({ command: [name, ...args], folder = '.' }: Step, shown = false): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
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

/** True when all of them pass. After a failure no other is begun. */
async function runStatic(): Promise<boolean> {
  const waiting = [...staticSteps];
  const failed: string[] = [];
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined && failed.length === 0; step = waiting.shift()) {
      const begun = performance.now();
      const { code, output } = await run(step);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      if (code === 0) {
        console.log(`ok      ${step.title} (${seconds} s)`);
        continue;
      }
      failed.push(step.title);
      console.log(`FAILED  ${step.title}: ${step.command.join(' ')}\n${output}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failed.length > 0) console.log(`stopped before the tests: ${failed.join(', ')}`);
  return failed.length === 0;
}

/** Runs the tests and prints the closing lines from the runner's own report. Gives the exit code. */
async function runTests(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-report-'));
  try {
    const report = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { code } = await run({ title: 'tests', command: ['vitest', 'run', ...reporters] }, true);
    const { lines, counts } = tally(JSON.parse(await readFile(report, 'utf8')) as Report);
    for (const line of lines) console.log(line);
    return counts ? code : code || 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await runStatic()) ? await runTests() : 1;
