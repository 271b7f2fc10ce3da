import { defineConfig } from 'vitest/config';

/** The tests of one room, for the mutation tester: it names the files. */
export default defineConfig({
  test: { include: ['test/**/*.test.ts'], isolate: false, testTimeout: 20_000, hookTimeout: 30_000 },
});
