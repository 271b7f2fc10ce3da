import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { operationIds } from '../../generated/operations.ts';
import { testFile } from '../support/coverage-table.ts';

const folder = fileURLToPath(new URL('../contract', import.meta.url));

test('every operation has its contract test, and there is no other', () => {
  // What stands beside the folders of the areas runs the conformance kit over all operations.
  const files = globSync('*/**', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) =>
    `${parentPath}/${name}`.slice(folder.length + 1).replaceAll('\\', '/'),
  );
  expect(paths.sort()).toEqual(operationIds.map(testFile).sort());
});
