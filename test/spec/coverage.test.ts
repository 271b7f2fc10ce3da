import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { operationIds } from '../../generated/operations.ts';
import { testFile } from '../support/coverage-table.ts';

const folder = fileURLToPath(new URL('../contract', import.meta.url));

test('each operation has exactly one contract test', () => {
  // Files outside the area folders run the conformance kit over all operations.
  const files = globSync('*/**', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) =>
    `${parentPath}/${name}`.slice(folder.length + 1).replaceAll('\\', '/'),
  );
  expect(paths.sort()).toEqual(operationIds.map(testFile).sort());
});
