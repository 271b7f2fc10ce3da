import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import { handlers } from '../../server/operations/registry.ts';

const tests = new URL('../contract/', import.meta.url);

export interface AreaCoverage {
  area: string;
  operations: OperationId[];
  implemented: OperationId[];
  /** Operations whose contract test file exists. */
  tested: OperationId[];
}

/** Path of the contract test of an operation, relative to test/contract. */
export const testFile = (id: OperationId): string => `${operations[id].area}/${id}.test.ts`;

/** Returns the coverage of each area, in the order of the contract. */
export function coverage(): AreaCoverage[] {
  const areas = [...new Set(operationIds.map((id) => operations[id].area))];
  return areas.map((area) => {
    const ids = operationIds.filter((id) => operations[id].area === area);
    return {
      area,
      operations: ids,
      implemented: ids.filter((id) => Object.hasOwn(handlers, id)),
      tested: ids.filter((id) => existsSync(fileURLToPath(new URL(testFile(id), tests)))),
    };
  });
}
