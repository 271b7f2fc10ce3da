import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { makeKyselyFile } from './test/support/kysely-file.ts';
import { LongestFirst } from './test/support/longest-first.ts';

process.env.KYSELY_FILE = await makeKyselyFile();
// Hundreds of processes start, which would each compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url));
// Tests write many small files, which stay in memory if it has enough space.
if (process.platform === 'linux') process.env.TMPDIR ??= hasSpace('/dev/shm') ? '/dev/shm' : '/tmp';

/** Whether 4 GiB are available. */
function hasSpace(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder, { bigint: false });
  return bavail * bsize > 4 * 1024 ** 3;
}

/** Tests that use the two shared targets: the mock and a running gateway. */
const contract = [
  'test/contract/**/*.test.ts',
  'test/spec/examples.test.ts',
  'test/spec/event-limits.test.ts',
];

/** Tests that `npm test` leaves out, because each takes long and depends on little of the server. */
const slow = [
  'test/business/**/*.test.ts',
  'test/client/{browser,guide-commands,process}.test.ts',
  'test/conformance/test/planted-faults.test.ts',
  'test/console/**/*.test.ts',
  'test/containers/**/*.test.ts',
  'test/docs/{browser,configuration,export,pages}.test.ts',
  'test/mock/at-limits.test.ts',
  'test/release/**/*.test.ts',
  'test/soak/two-minutes.test.ts',
  'test/spec/breaking/command.test.ts',
  'test/spec/{dev,new}/**/*.test.ts',
  'test/workflows/**/*.test.ts',
];

/** Tests that use the SDKs and generators of other teams, which `npm ci` leaves out. `npm test` leaves them out, too. */
const interop = ['test/interop/**/*.test.ts', 'test/docs/{guides,model-calls}.test.ts'];

interface Files {
  include: string[];
  exclude?: string[];
}

interface Timeouts {
  /** Of a test, in milliseconds. */
  test: number;
  /** Of a condition, in milliseconds. */
  condition: number;
}

/** A project of Vitest. Its timeouts are long enough for a busy machine: only a test that hangs reaches them. */
const project = (
  name: string,
  { include, exclude = [] }: Files,
  timeouts: Timeouts,
  options: TestProjectInlineConfiguration['test'] = {},
) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: [...configDefaults.exclude, ...exclude],
    testTimeout: timeouts.test,
    hookTimeout: timeouts.test,
    expect: { poll: { timeout: timeouts.condition } },
    sequence: { groupOrder: 1 },
    ...options,
  },
});

const short: Timeouts = { test: 60_000, condition: 40_000 };
const long: Timeouts = { test: 600_000, condition: 120_000 };

export default defineConfig({
  test: {
    globalSetup: 'test/support/docs-site.ts',
    setupFiles: 'test/support/wait-timeout.ts',
    execArgv: [`--import=${import.meta.resolve('./test/support/one-file.ts')}`],
    sequence: { sequencer: LongestFirst },
    // A worker runs its files in turn and loads the server once. Each file restores the state that it changes outside of
    // itself (timers, environment, spies on classes).
    isolate: false,
    // More than cores, because many of these tests wait.
    maxWorkers: availableParallelism() + 2,
    projects: [
      project('contract', { include: contract, exclude: slow }, short, {
        globalSetup: 'test/support/targets.ts',
        // The files share one gateway, and some list everything that it stores.
        fileParallelism: false,
        sequence: { groupOrder: 0 },
      }),
      project('unit', { include: ['test/**/*.test.ts'], exclude: [...contract, ...slow, ...interop] }, short),
      project('slow', { include: slow }, long),
      project('interop', { include: interop }, long, { globalSetup: 'test/support/interop-packages.ts' }),
    ],
  },
});
