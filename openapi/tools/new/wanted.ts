import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { form, verbs } from '../../rules/operation-id-form.ts';
import { isObject, pascal } from '../document.ts';
import { readYaml } from '../problem.ts';
import type { ContractNow } from './contract-now.ts';

/** A new operation whose names are sound. */
export interface Wanted {
  id: string;
  method: string;
  path: string;
  area: string;
  summary: string;
  /** The shape of its errors, as that of most operations of the area. */
  family: string;
  /** Files of openapi/parameters that describe the parts of the path. */
  parameters: string[];
}

/** What was asked for cannot be made; the message names the word or flag and the limit. */
export class CannotMake extends Error {
  override readonly name = 'CannotMake';
}

export interface Asked {
  id?: string | undefined;
  method?: string | undefined;
  path?: string | undefined;
  area?: string | undefined;
  summary?: string | undefined;
  /** Names of files of openapi/parameters, separated by commas. */
  parameters?: string | undefined;
}

const methods = ['get', 'post', 'patch', 'delete'];

/** Checks every name against the rules of the house and the contract as it is. Throws CannotMake. */
export function checked(root: string, asked: Asked, now: ContractNow): Wanted {
  const id = asked.id ?? '';
  if (!form.test(id))
    fail(
      `"${id}" is no name of an operation: a verb and a noun in lowerCamelCase, the verb one of ${verbs.join(', ')}`,
    );
  if (now.operations.some((one) => one.id === id)) fail(`there is an operation ${id} already`);
  const area = asked.area ?? '';
  const areas = now.areas.filter((one) => one !== 'realtime');
  if (area === 'realtime') fail('--area realtime is for sockets, whose sessions no command can begin');
  if (!areas.includes(area)) fail(`--area is "${area}": it must be one of ${areas.join(', ')}`);
  const method = (asked.method ?? '').toLowerCase();
  if (!methods.includes(method)) fail(`--method is "${method}": it must be one of ${methods.join(', ')}`);
  const path = checkedPath(asked.path ?? '', area, now);
  const summary = asked.summary ?? 'To be written.';
  if (!/^[A-Z][^\n]{1,120}\.$/.test(summary))
    fail('--summary must be one sentence with a capital and a full stop, of at most 122 characters');
  return {
    id,
    method,
    path,
    area,
    summary,
    family: familyOf(area, now),
    parameters: parametersOf(root, path, asked.parameters ?? ''),
  };
}

function checkedPath(path: string, area: string, { files }: ContractNow): string {
  if (!/^(\/([A-Za-z0-9._-]+|\{[a-z][a-z0-9_]*\}))+\/?$/.test(path))
    fail(`--path is "${path}": it must be parts like /v1/songs/{song_id}`);
  if (path.startsWith('/api/admin/') !== (area === 'admin'))
    fail('--area admin and a --path below /api/admin/ go together: that is where the operator is asked for');
  const shape = (one: string) => one.replaceAll(/\{[^}]*\}/g, '{}');
  for (const [taken, file] of files) {
    if (shape(taken) === shape(path))
      fail(`--path ${path} is taken: openapi/${file} has ${taken}, and another method of it belongs there`);
  }
  return path;
}

/** The error family that most operations of the area have. */
function familyOf(area: string, { operations }: ContractNow): string {
  const families = operations.filter((one) => one.area === area).map(({ family }) => family);
  const count = (family: string) => families.filter((one) => one === family).length;
  return families.toSorted((a, b) => count(b) - count(a))[0] ?? 'generic';
}

/** For each part in braces the file that describes it: the one that was named, or has its name, or is the only one. */
function parametersOf(root: string, path: string, named: string): string[] {
  const folder = join(root, 'openapi/parameters');
  const described = readdirSync(folder).map((file) => ({
    name: basename(file, '.yaml'),
    node: readYaml(`openapi/parameters/${file}`, readFileSync(join(folder, file), 'utf8')),
  }));
  const wanted = named.split(',').filter((name) => name !== '');
  const unknown = wanted.find((one) => !described.some(({ name }) => name === one));
  if (unknown !== undefined) fail(`--parameters names ${unknown}, which is no file of openapi/parameters`);
  return (path.match(/(?<=\{)[^}]+/g) ?? []).map((part) => {
    const found = described
      .filter(({ node }) => isObject(node) && node.in === 'path' && node.name === part)
      .map(({ name }) => name);
    const file =
      found.find((name) => wanted.includes(name)) ??
      found.find((name) => name === pascal(part)) ??
      (found.length === 1 ? found[0] : undefined);
    if (file !== undefined) return `${file}.yaml`;
    return fail(
      found.length === 0
        ? `--path has {${part}}, which no file of openapi/parameters describes: write it there first`
        : `--path has {${part}}: say with --parameters which of ${found.join(', ')} describes it`,
    );
  });
}

function fail(message: string): never {
  throw new CannotMake(message);
}
