import { documented } from '../conformance/contract/documented.ts';
import { coverage } from './coverage-table.ts';
import { exemptResponses } from './exempt-cells.ts';

/** `npm run coverage`: prints the implemented and tested operations of each area. */
const areas = coverage();
const rows = areas.map(({ area, operations, implemented, tested }) => [
  area,
  String(operations.length),
  String(implemented.length),
  String(tested.length),
]);
const head = ['area', 'operations', 'implemented', 'contract-tested'];
const widths = head.map((title, column) =>
  Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
);
const line = (row: string[]) =>
  row
    .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
    .join('  ');

console.log(line(head));
for (const row of rows) console.log(line(row));

const all = areas.flatMap(({ operations }) => operations);
const implemented = areas.flatMap((one) => one.implemented);
const tested = areas.flatMap((one) => one.tested);
console.log(
  `\n${implemented.length} of ${all.length} implemented, ${tested.length} of ${all.length} contract-tested`,
);

const responses = all
  .flatMap((id) => documented(id).responses)
  .reduce((sum, { content }) => sum + Math.max(1, content.length), 0);
const exempt = Object.entries(exemptResponses).flatMap(([id, cells]) =>
  Object.entries(cells).map(([cell, reason]) => `  ${id} ${cell}: ${reason}`),
);
console.log(
  `${responses - exempt.length} of ${responses} documented responses must be covered. Exempt:\n${exempt.join('\n')}`,
);
