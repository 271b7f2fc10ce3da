import { spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type MutationReport, summarize } from './mutation-summary.ts';

/**
 * `npm run mutate -- server/ledger [server/tasks/poller.ts:20-60] [--tests 'test/ledger/*.test.ts'] [--least 90]`: changes the
 * code in a copy, bit by bit, and prints where no test minds, by file and line. One room may take the better part of an
 * hour. With SQLite only, so that a change is judged by the quickest tests; `--postgres` is for code that several gateways
 * on one PostgreSQL run, such as shared limits.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Which tests are to notice a change in a room; others would, too, but later. A room without a line: `test/<room>/`. */
const testsOf: Readonly<Record<string, readonly string[]>> = {
  accounts: ['test/server/{client-address,exchange,key-*,keys,rate-limit,limits-nodes,shared-*}.test.ts'],
  inference: ['test/realtime/{duplex*,inference-*,task-*,hang-up,shutdown}.test.ts'],
  ledger: [
    'test/ledger/*.test.ts',
    'test/realtime/{duplex-books,session-books}.test.ts',
    'test/server/{held-quota,lost-store,speech-books}.test.ts',
    'test/store/{audit,figures}.test.ts',
    'test/text/{embeddings,messages,message-stream}.test.ts',
    'test/video/gamma-tasks.test.ts',
  ],
  providers: [
    'test/{providers,video,music,images,text,verification}/*.test.ts',
    'test/server/{provider-*,speech-*}.test.ts',
  ],
  realtime: ['test/realtime/*.test.ts'],
  tasks: [
    'test/tasks/{absent-store,by-hand,clips,claims,clock,lifecycle,poll-slots,polling,states,submission}.test.ts',
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
    throw new Unusable(`${named}: lines are named as in server/ledger/prices.ts:10-20.`);
  if (!statSync(join(root, path)).isDirectory()) return named;
  if (lines !== undefined) throw new Unusable(`${named}: a room has no lines.`);
  return `${path.replace(/\/$/, '')}/**/*.ts`;
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
    },
  });
  if (positionals.length === 0) throw new Unusable('name a room or a file, such as server/ledger.');
  const least = Number(values.least);
  if (!(least >= 0 && least <= 100)) throw new Unusable('--least: must be a percentage, 0 to 100.');
  const targets = positionals.map(targetOf);
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
