import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest in CI, longest first. All others take less than 20 s. */
const longest: readonly string[] = [
  'test/docs/guides.test.ts',
  'test/spec/new/operation.test.ts',
  'test/containers/image.test.ts',
  'test/tasks/crash.test.ts',
  'test/interop/generators/generators.test.ts',
  'test/mock/documented-responses.test.ts',
  'test/client/guide-commands.test.ts',
  'test/faults/killed-gateway.test.ts',
  'test/docs/browser.test.ts',
  'test/workflows/respect.test.ts',
  'test/deliveries/crash.test.ts',
  'test/store/figures.test.ts',
  'test/tasks/manual-end-crash.test.ts',
  'test/workers/processes.test.ts',
  'test/release/release.test.ts',
  'test/server/resource-ownership.test.ts',
  'test/mock/differences.test.ts',
  'test/media/sandbox-links.test.ts',
  'test/faults/lost-database.test.ts',
  'test/quota/call-quota.model.test.ts',
  'test/store/audit.test.ts',
  'test/store/lost-database.test.ts',
  'test/faults/killed-sandbox.test.ts',
];

/**
 * Starts the longest files first, so that no worker is busy alone at the end. A worker takes files of one project only, so
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
