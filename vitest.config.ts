import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { makeKyselyFile } from './test/support/kysely-file.ts';
import { LongestFirst } from './test/support/longest-first.ts';

process.env.KYSELY_FILE = await makeKyselyFile();

/** Tests that speak to the two shared targets: the mock and a running gateway. */
const contract = [
  'test/contract/**/*.test.ts',
  'test/spec/examples.test.ts',
  'test/spec/event-limits.test.ts',
];

/** Tests of the embedded upstream by itself. */
const sandbox = ['test/sandbox/**/*.test.ts', 'test/sandbox-media/**/*.test.ts'];

/** What `npm test` leaves out, as globs with commas between them. */
const leftOut = process.env.TESTS_LEFT_OUT?.split(',') ?? [];

const shared = {
  // A worker takes one file after the other and loads the server once for all of them: what a file changes outside of
  // itself (timers, environment, spies on classes), it puts back.
  isolate: false,
  // More than cores: many of these tests wait for work that is done in its own time.
  maxWorkers: availableParallelism() + 2,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    // Long enough for a machine that has much else to do: only a test that hangs gets there.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: 'test/support/patience.ts',
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
          // One file after the other, since they share the gateway. They keep no state of their own between files,
          // so one worker reads the contract once for all of them.
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
