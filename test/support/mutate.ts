import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type MutationReport, summarize } from './mutation-summary.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * `npm run mutate -- server/quota [server/tasks/poller.ts:20-60] [--tests 'test/quota/*.test.ts'] [--least 90]`: changes the
 * code in a copy, bit by bit, and prints where no test minds, by file and line. A whole room may take hours; `--sample 20`
 * tries so many stretches of ten lines of it, drawn by chance, the same ones for the same `--seed`. With SQLite only, so that
 * a change is judged by the quickest tests; `--postgres` is for code that several gateways on one PostgreSQL run, such as
 * shared limits.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Which tests are to notice a change in a room; others would, too, but later. A room without a line: `test/<room>/`. */
const testsOf: Readonly<Record<string, readonly string[]>> = {
  keys: ['test/server/{client-address,limit-sync,key-*,keys,rate-limiter,limits-nodes,shared-*}.test.ts'],
  quota: [
    'test/quota/*.test.ts',
    'test/realtime/{duplex-books,session-books}.test.ts',
    'test/server/{reserved-quota,store-outage,speech-ledger}.test.ts',
    'test/store/{audit,figures,log-days}.test.ts',
    'test/text/{embeddings,messages,message-stream}.test.ts',
    'test/video/gamma-tasks.test.ts',
  ],
  providers: [
    'test/{providers,video,music,images,text,verification}/*.test.ts',
    'test/server/{bridge,channel-test-call,connection-shares,provider-*,rejection,speech-*}.test.ts',
  ],
  sockets: ['test/realtime/*.test.ts'],
  tasks: [
    'test/tasks/{absent-store,by-hand,clips,claims,clock,housekeeping,lifecycle,measured}.test.ts',
    'test/tasks/{poll-slots,polling,resumption,states,submission,task-model}.test.ts',
    'test/quota/leased-tasks.test.ts',
  ],
};

/** Rooms that run in threads of their own: which test reaches what cannot be told there, so each change is tried by all. */
const inThreads: ReadonlySet<string> = new Set(['store']);

class Unusable extends Error {}

/** A room, a file, or lines of a file, as the mutation tester wants it. */
function targetOf(named: string): string {
  const [path = '', lines] = named.split(':', 2);
  if (!/^server\/.+/.test(path) || !existsSync(join(root, path)))
    throw new Unusable(`${named}: there is no such room or file below server/.`);
  if (lines !== undefined && !/^\d+-\d+$/.test(lines))
    throw new Unusable(`${named}: lines are named as in server/quota/prices.ts:10-20.`);
  if (!statSync(join(root, path)).isDirectory()) return named;
  if (lines !== undefined) throw new Unusable(`${named}: a room has no lines.`);
  return `${path.replace(/\/$/, '')}/**/*.ts`;
}

/** Lines of a stretch of a sample. */
const stretch = 10;

/** So many stretches of the targets' files, each as likely as any other; all of them where there are fewer. */
function drawn(targets: readonly string[], sample: number, seed: number): string[] {
  if (targets.some((target) => target.includes(':')))
    throw new Unusable('--sample: is drawn from rooms and whole files.');
  const all = targets
    .flatMap((target) => globSync(target, { cwd: root }))
    .sort()
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
      return Array.from({ length: Math.ceil(lines / stretch) }, (_, index) => {
        const from = index * stretch + 1;
        return `${file}:${from}-${Math.min(from + stretch - 1, lines)}`;
      });
    });
  const random = seededRandom(seed);
  return all
    .map((place) => ({ place, rank: random() }))
    .sort((left, right) => left.rank - right.rank)
    .slice(0, sample)
    .map(({ place }) => place);
}

function roomsOf(targets: readonly string[]): string[] {
  return [...new Set(targets.map((target) => target.split('/')[1] ?? ''))];
}

function testsFor(targets: readonly string[]): string[] {
  return roomsOf(targets).flatMap((room) => testsOf[room] ?? [`test/${room}/**/*.test.ts`]);
}

async function mutate(
  mutated: readonly string[],
  tests: readonly string[],
  postgres: boolean,
): Promise<MutationReport> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-mutate-'));
  try {
    const report = join(folder, 'mutation.json');
    const config = join(folder, 'stryker.json');
    const options = {
      mutate: mutated,
      testFiles: tests,
      testRunner: 'vitest',
      plugins: [
        fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner')),
        join(root, 'test/support/mutate-words.ts'),
      ],
      ignorers: ['words'],
      vitest: { configFile: 'test/support/mutate.vitest.ts', related: false },
      coverageAnalysis: roomsOf(mutated).some((room) => inThreads.has(room)) ? 'off' : 'perTest',
      concurrency: 1,
      timeoutMS: 30_000,
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: report },
      tempDirName: join(folder, 'copy'),
      // It would rewrite the real one with a compiler that this project does not have.
      tsconfigFile: 'none.json',
    };
    await writeFile(config, JSON.stringify(options));
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn('stryker', ['run', config], {
        cwd: root,
        stdio: 'inherit',
        shell: process.platform === 'win32',
        env: {
          ...process.env,
          PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
          CI: '',
          // What tests that were ended halfway leave behind goes with the folder.
          TMPDIR: folder,
          // Nothing answers there, so that the tests leave PostgreSQL out.
          ...(postgres ? {} : { TEST_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
        },
      });
      child.once('error', reject).once('close', resolve);
    });
    if (code !== 0 || !existsSync(report)) throw new Unusable('the mutation tester ended without a report.');
    return JSON.parse(await readFile(report, 'utf8')) as MutationReport;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tests: { type: 'string', multiple: true },
      least: { type: 'string', default: '0' },
      postgres: { type: 'boolean', default: false },
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  if (positionals.length === 0) throw new Unusable('name a room or a file, such as server/quota.');
  const least = Number(values.least);
  if (!(least >= 0 && least <= 100)) throw new Unusable('--least: must be a percentage, 0 to 100.');
  const named = positionals.map(targetOf);
  const [sample, seed] = [Number(values.sample ?? '1'), Number(values.seed)];
  if (!(Number.isSafeInteger(sample) && sample > 0))
    throw new Unusable('--sample: must be a number of stretches.');
  if (!Number.isSafeInteger(seed)) throw new Unusable('--seed: must be a whole number.');
  const targets = values.sample === undefined ? named : drawn(named, sample, seed);
  const tests = values.tests ?? testsFor(targets);
  if (globSync(tests, { cwd: root }).length === 0)
    throw new Unusable(`--tests: there is no test file ${tests.join(', ')}.`);
  const { lines, score } = summarize(await mutate(targets, tests, values.postgres));
  for (const line of lines) console.log(line);
  process.exitCode = score < least ? 1 : 0;
} catch (error) {
  const expected = error instanceof Unusable || (error instanceof TypeError && 'code' in error);
  if (!expected) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
