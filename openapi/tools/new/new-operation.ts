import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { form, verbs } from '../../rules/operation-id-form.ts';
import { isObject, pascal } from '../document.ts';
import { readYaml } from '../problem.ts';
import type { ExistingContract } from './existing-contract.ts';

/** A new operation with valid names. */
export interface NewOperation {
  id: string;
  method: string;
  path: string;
  area: string;
  summary: string;
  /** Error family, that of most operations of the area. */
  family: string;
  /** Files of openapi/parameters for the path parameters. */
  parameters: string[];
}

/** The operation cannot be created. The message names the argument or flag and its rule. */
export class CannotCreate extends Error {
  override readonly name = 'CannotCreate';
}

export interface Flags {
  id?: string | undefined;
  method?: string | undefined;
  path?: string | undefined;
  area?: string | undefined;
  summary?: string | undefined;
  /** Names of files of openapi/parameters, separated by commas. */
  parameters?: string | undefined;
}

const methods = ['get', 'post', 'patch', 'delete'];

/** Validates all names against the lint rules and the existing contract. Throws CannotCreate. */
export function validate(root: string, flags: Flags, contract: ExistingContract): NewOperation {
  const id = flags.id ?? '';
  if (!form.test(id))
    fail(`"${id}" must be a verb and a noun in lowerCamelCase, with one of these verbs: ${verbs.join(', ')}`);
  if (contract.operations.some((one) => one.id === id)) fail(`operation ${id} already exists`);
  const area = flags.area ?? '';
  const areas = contract.areas.filter((one) => one !== 'realtime');
  if (area === 'realtime') fail('--area realtime contains sockets only, which this command cannot create');
  if (!areas.includes(area)) fail(`--area "${area}" must be one of ${areas.join(', ')}`);
  const method = (flags.method ?? '').toLowerCase();
  if (!methods.includes(method)) fail(`--method "${method}" must be one of ${methods.join(', ')}`);
  const path = validatePath(flags.path ?? '', area, contract);
  const summary = flags.summary ?? 'To be written.';
  if (!/^[A-Z][^\n]{1,120}\.$/.test(summary))
    fail('--summary must be one sentence with a capital letter and a full stop, of at most 122 characters');
  return {
    id,
    method,
    path,
    area,
    summary,
    family: familyOf(area, contract),
    parameters: parametersOf(root, path, flags.parameters ?? ''),
  };
}

function validatePath(path: string, area: string, { files }: ExistingContract): string {
  if (!/^(\/([A-Za-z0-9._-]+|\{[a-z][a-z0-9_]*\}))+\/?$/.test(path))
    fail(`--path "${path}" must have the form /v1/songs/{song_id}`);
  if (path.startsWith('/api/admin/') !== (area === 'admin'))
    fail('--area admin requires a --path below /api/admin/, and such a path requires --area admin');
  const shape = (one: string) => one.replaceAll(/\{[^}]*\}/g, '{}');
  for (const [existing, file] of files) {
    if (shape(existing) === shape(path))
      fail(`--path ${path} exists: add the method to ${existing} in openapi/${file}`);
  }
  return path;
}

/** Error family of most operations of the area. */
function familyOf(area: string, { operations }: ExistingContract): string {
  const families = operations.filter((one) => one.area === area).map(({ family }) => family);
  const count = (family: string) => families.filter((one) => one === family).length;
  return families.toSorted((a, b) => count(b) - count(a))[0] ?? 'generic';
}

/** File of each path parameter: the named file, the file with its name, or the only one. */
function parametersOf(root: string, path: string, named: string): string[] {
  const folder = join(root, 'openapi/parameters');
  const described = readdirSync(folder).map((file) => ({
    name: basename(file, '.yaml'),
    node: readYaml(`openapi/parameters/${file}`, readFileSync(join(folder, file), 'utf8')),
  }));
  const wanted = named.split(',').filter((name) => name !== '');
  const unknown = wanted.find((one) => !described.some(({ name }) => name === one));
  if (unknown !== undefined) fail(`--parameters: ${unknown} is not a file of openapi/parameters`);
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
        ? `--path has {${part}}: add a file for it to openapi/parameters first`
        : `--path has {${part}}: select one of ${found.join(', ')} with --parameters`,
    );
  });
}

function fail(message: string): never {
  throw new CannotCreate(message);
}
