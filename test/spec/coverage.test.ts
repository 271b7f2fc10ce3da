import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import { isImplemented, testFile } from '../support/coverage-table.ts';

const folder = fileURLToPath(new URL('../contract', import.meta.url));

test('every operation has its contract test, and there is no other', () => {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) =>
    `${parentPath}/${name}`.slice(folder.length + 1).replaceAll('\\', '/'),
  );
  expect(paths.sort()).toEqual(operationIds.map(testFile).sort());
});

test('an operation lists 501 exactly while it is not implemented', () => {
  const statusesOf = (id: OperationId): readonly number[] => operations[id].statuses;
  const listed = operationIds.filter((id) => statusesOf(id).includes(501));
  expect(listed).toEqual(operationIds.filter((id) => !isImplemented(id)));
});
