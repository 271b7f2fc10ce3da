import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject, objects, text } from '../document.ts';
import type { BreakingChange } from './judge.ts';

/** Kinds of components with their own folder. */
const folders = new Set(['parameters', 'responses', 'headers']);

/** Finds the source file of a change below `root`. `bundles` contains the new and the old bundle. */
export function sourceFinder(root: string, bundles: readonly JsonObject[]) {
  const index = parse(readFileSync(join(root, 'openapi/openapi.yaml'), 'utf8')) as JsonObject;
  return ({ document, at }: BreakingChange): string => {
    if (document === 'errors') return 'openapi/errors.yaml';
    const whole = document === 'openapi' ? 'openapi/openapi.yaml' : 'asyncapi/asyncapi.yaml';
    const [, area = '', second = '', third = ''] = at.split('/').map(unescaped);
    if (area === 'paths') return pathFile(index, bundles, second) ?? whole;
    if (area !== 'components') return whole;
    if (document === 'openapi' && folders.has(second))
      return existing(root, `openapi/${second}/${third}.yaml`) ?? whole;
    if (second !== 'schemas') return whole;
    const [found] = globSync(`{openapi,asyncapi}/schemas/**/${third}.yaml`, { cwd: root });
    return found ?? whole;
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
  const original = bundles.flatMap((bundle) =>
    objects(bundle.paths).flatMap(([name, item]) =>
      objects(item).some(([, { operationId }]) => aliasOf !== undefined && operationId === aliasOf)
        ? [name]
        : [],
    ),
  );
  const file = [path, ...original].map(reference).find((one) => one !== '');
  return file === undefined ? undefined : join('openapi', file);
}

const itemOf = (bundle: JsonObject, path: string): Json | undefined =>
  isObject(bundle.paths) ? bundle.paths[path] : undefined;

const existing = (root: string, path: string) => (existsSync(join(root, path)) ? path : undefined);

const unescaped = (part: string) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
