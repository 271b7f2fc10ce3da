import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isObject,
  type JsonObject,
  type Operation,
  objects,
  operationsOf,
  strings,
  text,
} from '../document.ts';
import { readYaml } from '../problem.ts';

/** The existing contract. */
export interface ExistingContract {
  operations: (Operation & { area: string; family: string })[];
  /** Tags with a folder of paths. */
  areas: string[];
  /** Path -> its file, relative to openapi/. */
  files: Map<string, string>;
}

/** Reads the last generated contract and the current index of paths. */
export function readContract(root: string): ExistingContract {
  const openapi = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8')) as JsonObject;
  const name = 'openapi/openapi.yaml';
  const index = readYaml(name, readFileSync(join(root, name), 'utf8'));
  const files = new Map(
    objects(isObject(index) ? index.paths : undefined).map(([path, { $ref }]) => [path, text($ref)] as const),
  );
  const areas = [...new Set([...files.values()].map((file) => file.split('/')[1] ?? ''))];
  const operations = operationsOf(openapi).map((operation) => ({
    ...operation,
    area: strings(operation.node.tags)[0] ?? '',
    family: text(operation.node['x-error-family']),
  }));
  return { operations, areas, files };
}
