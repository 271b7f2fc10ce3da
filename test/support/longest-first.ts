import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, by the time that they take; what is not here takes less than twenty seconds. */
const longest: readonly string[] = [
  'test/soak/soak.test.ts',
  'test/docs/guides.test.ts',
  'test/tasks/crash.test.ts',
  'test/faults/killed-gateway.test.ts',
  'test/spec/new/operation.test.ts',
  'test/client/new-users-day.test.ts',
  'test/docs/browser.test.ts',
  'test/mock/documented-answers.test.ts',
  'test/store/audit.test.ts',
  'test/ledger/call-holds.test.ts',
  'test/files/sandbox-links.test.ts',
  'test/tasks/by-hand-crash.test.ts',
  'test/server/admin.test.ts',
  'test/spec/generators.test.ts',
  'test/workflows/respect.test.ts',
  'test/deliveries/crash.test.ts',
];

/**
 * Begins with the longest files, so that at the end no worker goes on alone. A worker takes files of one project only, so
 * each project's files stay together, those of `unit` first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = ({ project, moduleId }: TestSpecification) => {
      const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
      return [
        project.config.sequence.groupOrder,
        project.name === 'unit' ? 0 : 1,
        place === -1 ? longest.length : place,
      ] as const;
    };
    return sorted.toSorted((left, right) => {
      const [mine, other] = [order(left), order(right)];
      return mine[0] - other[0] || mine[1] - other[1] || mine[2] - other[2];
    });
  }
}
