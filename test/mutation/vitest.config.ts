import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Configuration of Vitest for mutation tests. Stryker selects the files. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: join(import.meta.dirname, 'processes.ts'),
    isolate: false,
    // Lower than in `npm test`, because most mutants of a state machine are detected by a test that times out.
    testTimeout: 10_000,
    hookTimeout: 15_000,
  },
});
