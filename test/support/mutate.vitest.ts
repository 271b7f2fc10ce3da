import { defineConfig } from 'vitest/config';

/** The tests of one room, for the mutation tester: it names the files. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: 'test/support/mutate-processes.ts',
    isolate: false,
    // Half of what `npm test` allows: most changes of a state machine are noticed by a test that waits in vain.
    testTimeout: 10_000,
    hookTimeout: 15_000,
  },
});
