import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { tally } from './tally.ts';

/** Prints the lines of `tally` at the end of a run, and fails a run that is not valid. */
export default class TallyReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const results = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        fullName: test.fullName,
        state: test.result().state,
        errors: test.meta().errors,
      })),
    );
    const files = await vitest.globTestSpecifications();
    const isComplete = modules.length >= files.length && vitest.config.testNamePattern === undefined;
    const { lines, isValid } = tally(results, { isComplete });
    if (!vitest.projects.some(({ name }) => name === 'slow'))
      lines.unshift(
        'not run: the slow tests and those with SDKs and generators; `npm run test:all` runs them too',
      );
    // After the summary of the default reporter.
    process.once('exit', () => console.log(lines.join('\n')));
    if (!isValid) process.exitCode = 1;
  }
}
