import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject, objects, text } from '../document.ts';
import { lineOf } from '../problem.ts';
import type { Change } from './change.ts';
import { keysOf } from './places.ts';

/** A change with its place in the sources. */
export type SourceChange = Change & {
  /** Path below the root. */
  file: string;
  /** Starts at 1: the line of the change, or of the nearest part of the file around it. */
  line: number;
};

/** Kinds of components with their own folder. */
const folders = new Set(['parameters', 'responses', 'headers']);

/** Finds the source files of changes below `root`. `bundles` contains the new and the old bundle. */
export function sourceFinder(root: string, bundles: readonly JsonObject[]) {
  const index = parse(readFileSync(join(root, 'openapi/openapi.yaml'), 'utf8')) as JsonObject;
  const texts = new Map<string, string>();
  const textOf = (file: string) =>
    texts.getOrInsertComputed(file, () => readFileSync(join(root, file), 'utf8'));

  /** The file, and the number of keys of the pointer that lead to the file. */
  const fileOf = ({ document, at, operations }: Change): readonly [file: string, depth: number] => {
    const whole = document === 'openapi' ? 'openapi/openapi.yaml' : 'asyncapi/asyncapi.yaml';
    const [area = '', second = '', third = ''] = keysOf(at);
    const path = (name: string) => pathFile(index, bundles, name);
    if (area === 'paths') return [path(second) ?? whole, path(second) === undefined ? 0 : 2];
    if (area === 'callbacks') {
      const file = existing(
        root,
        `openapi/callbacks/${second.charAt(0).toUpperCase()}${second.slice(1)}.yaml`,
      );
      return [file ?? path(pathOf(bundles, operations[0])) ?? whole, 2];
    }
    if (area !== 'components') return [whole, 0];
    if (document === 'openapi' && folders.has(second)) {
      const file = existing(root, `openapi/${second}/${third}.yaml`);
      return file === undefined ? [whole, 0] : [file, 3];
    }
    if (second !== 'schemas') return [whole, 0];
    const [found] = globSync(`{openapi,asyncapi}/schemas/**/${third}.yaml`, { cwd: root });
    return found === undefined ? [whole, 0] : [found, 3];
  };

  return (change: Change): { file: string; line: number } => {
    if (change.document === 'errors') {
      const file = 'openapi/errors.yaml';
      const before = textOf(file).split(new RegExp(`^- (?:\\{ *)?code: ${change.at}\\b`, 'm'))[0] ?? '';
      return { file, line: before === textOf(file) ? 1 : before.split('\n').length };
    }
    const [file, depth] = fileOf(change);
    return { file, line: lineOf(textOf(file), keysOf(change.at).slice(depth)) };
  };
}

/** File of a path, or of the original of a copied path. */
function pathFile(index: JsonObject, bundles: readonly JsonObject[], path: string): string | undefined {
  const reference = (name: string) => {
    const item = isObject(index.paths) ? index.paths[name] : undefined;
    return isObject(item) ? text(item.$ref) : '';
  };
  const aliasOf = bundles
    .flatMap((bundle) => objects(itemOf(bundle, path)))
    .map(([, operation]) => text(operation['x-alias-of']))
    .find((id) => id !== '');
  const file = [path, pathOf(bundles, aliasOf)].map(reference).find((one) => one !== '');
  return file === undefined ? undefined : join('openapi', file);
}

/** The path of an operation. */
const pathOf = (bundles: readonly JsonObject[], id: string | undefined): string =>
  bundles
    .flatMap((bundle) => objects(bundle.paths))
    .find(([, item]) =>
      objects(item).some(([, { operationId }]) => id !== undefined && operationId === id),
    )?.[0] ?? '';

const itemOf = (bundle: JsonObject, path: string): Json | undefined =>
  isObject(bundle.paths) ? bundle.paths[path] : undefined;

const existing = (root: string, path: string) => (existsSync(join(root, path)) ? path : undefined);
