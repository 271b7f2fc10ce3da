import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientResource, clientTest, readmePath, readmeRow, testRow, withMethod } from './client-method.ts';
import type { ExistingContract } from './existing-contract.ts';
import { CannotCreate, type NewOperation } from './new-operation.ts';
import { pathFile, statusesOf } from './templates.ts';

/** Adds the new operation to the files that list all operations. Returns path -> new text. */
export function registrations(
  root: string,
  operation: NewOperation,
  { operations }: ExistingContract,
): Map<string, string> {
  const { id, path, area } = operation;
  const neighbors = operations.filter((one) => one.area === area);
  const ofArea = (line: string) => neighbors.some((one) => new RegExp(`^  ${one.id}[:,]`).test(line));
  const { name: resource, file: clientFile, neighbor } = clientResource(root, operation, neighbors);
  const edit = (file: string, change: (lines: string[]) => string[] | undefined): [string, string] => {
    const lines = change(readFileSync(join(root, file), 'utf8').split('\n'));
    if (lines === undefined) throw new CannotCreate(`${file} contains no operation of area ${area}`);
    return [file, lines.join('\n')];
  };
  return new Map([
    edit('openapi/openapi.yaml', (lines) =>
      after(
        lines,
        (line) => line.includes(`: { $ref: paths/${area}/`),
        `  ${path}: { $ref: ${pathFile(operation)} }`,
      ),
    ),
    edit('server/operations/index.ts', (lines) =>
      sorted(lines, `export { ${id} } from './${area}/${id}.ts';`),
    ),
    edit('test/spec/statuses.ts', (lines) =>
      after(lines, ofArea, `  ${id}: [${statusesOf(operation).join(', ')}],`),
    ),
    edit(clientFile, (lines) => withMethod(root, lines, operation, neighbor.id)),
    edit(clientTest, (lines) => after(lines, ofArea, testRow(root, operation, resource))),
    edit('client/README.md', (lines) =>
      after(lines, (line) => line.startsWith(readmePath(neighbor)), readmeRow(operation, resource)),
    ),
  ]);
}

/** Inserts a line after the last line that fits. Undefined if none fits. */
function after(lines: string[], fits: (line: string) => boolean, line: string): string[] | undefined {
  const at = lines.findLastIndex(fits);
  return at < 0 ? undefined : lines.toSpliced(at + 1, 0, line);
}

/** Inserts an export into exports that are sorted by file. */
function sorted(lines: string[], line: string): string[] {
  const fileOf = (one: string) => /from '(\.\/[^']+)'/.exec(one)?.[1] ?? '';
  const isBefore = (one: string) =>
    fileOf(one) !== '' && fileOf(one).toLowerCase() < fileOf(line).toLowerCase();
  const at = lines.findLastIndex(isBefore);
  const first = lines.findIndex((one) => fileOf(one) !== '');
  return lines.toSpliced(at < 0 ? first : at + 1, 0, line);
}
