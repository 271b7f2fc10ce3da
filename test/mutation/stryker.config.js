import { join } from 'node:path';

/** @type {import('@stryker-mutator/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'words.ts')],
  ignorers: ['words'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  incremental: true,
  incrementalFile: 'node_modules/.cache/stryker.json',
  concurrency: 1,
  timeoutMS: 30_000,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportMutants: true },
  tempDirName: 'node_modules/.cache/stryker',
  // Stryker would rewrite tsconfig.json with a compiler that the project does not have.
  tsconfigFile: 'none.json',
};
