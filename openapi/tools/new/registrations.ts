import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const neighbours = operations.filter((one) => one.area === area).map((one) => one.id);
  const ofArea = (line: string) => neighbours.some((one) => new RegExp(`^  ${one}[:,]`).test(line));
  const edit = (file: string, ...edits: ((lines: string[]) => string[] | undefined)[]): [string, string] => {
    let lines = readFileSync(join(root, file), 'utf8').split('\n');
    for (const one of edits) {
      const edited = one(lines);
      if (edited === undefined) throw new CannotCreate(`${file} contains no operation of area ${area}`);
      lines = edited;
    }
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
    edit(
      'server/operations/registry.ts',
      (lines) => sorted(lines, `import { ${id} } from './${area}/${id}.ts';`),
      (lines) => after(lines, ofArea, `  ${id},`),
    ),
    edit('test/spec/statuses.ts', (lines) =>
      after(lines, ofArea, `  ${id}: [${statusesOf(operation).join(', ')}],`),
    ),
  ]);
}

/** Inserts a line after the last line that fits. Undefined if none fits. */
function after(lines: string[], fits: (line: string) => boolean, line: string): string[] | undefined {
  const at = lines.findLastIndex(fits);
  return at < 0 ? undefined : lines.toSpliced(at + 1, 0, line);
}

/** Inserts an import into imports that are sorted by file. */
function sorted(lines: string[], line: string): string[] {
  const fileOf = (one: string) => /from '(\.\/[^']+)'/.exec(one)?.[1] ?? '';
  const isBefore = (one: string) =>
    fileOf(one) !== '' && fileOf(one).toLowerCase() < fileOf(line).toLowerCase();
  const at = lines.findLastIndex(isBefore);
  const first = lines.findIndex((one) => fileOf(one) !== '');
  return lines.toSpliced(at < 0 ? first : at + 1, 0, line);
}
