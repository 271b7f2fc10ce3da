import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { makeKyselyFile } from './test/support/kysely-file.ts';
import { LongestFirst } from './test/support/longest-first.ts';

process.env.KYSELY_FILE = await makeKyselyFile();

/** Tests that use the two shared targets: the mock and a running gateway. */
const contract = [
  'test/contract/**/*.test.ts',
  'test/spec/examples.test.ts',
  'test/spec/event-limits.test.ts',
];

/** Tests of the embedded upstream alone. */
const sandbox = ['test/sandbox/**/*.test.ts', 'test/sandbox-media/**/*.test.ts'];

/** Globs of the tests that `npm test` skips, separated by commas. */
const leftOut = process.env.TESTS_LEFT_OUT?.split(',') ?? [];

const shared = {
  // A worker runs its files in turn and loads the server once. Each file restores the state that it changes outside of
  // itself (timers, environment, spies on classes).
  isolate: false,
  // More than cores, because many of these tests wait.
  maxWorkers: availableParallelism() + 2,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    // Long enough for a busy machine: only a test that hangs reaches it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: 'test/support/wait-timeout.ts',
    execArgv: [`--import=${import.meta.resolve('./test/support/one-file.ts')}`],
    expect: { poll: { timeout: 40_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'contract',
          include: contract,
          globalSetup: 'test/support/targets.ts',
          // The files share the gateway, so they run in turn. They share no state, so one worker loads the contract once.
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...contract, ...sandbox, ...leftOut],
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'sandbox',
          include: sandbox,
          exclude: [...configDefaults.exclude, ...leftOut],
          ...shared,
        },
      },
    ],
  },
});
