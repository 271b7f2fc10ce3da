import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../document.ts';
import { type ErrorEntry, readErrors } from '../errors.ts';
import { openSpecs } from '../specs.ts';

const run = promisify(execFile);

export interface Contract {
  openapi: JsonObject;
  asyncapi: JsonObject;
  /** Undefined for a folder of bundles without errors.yaml. */
  errors: readonly ErrorEntry[] | undefined;
}

/** A contract to compare with, and its description. */
export interface Base {
  contract: Contract;
  description: string;
}

/** The check cannot run. The message states the reason. */
export class CannotCompare extends Error {
  override readonly name = 'CannotCompare';
}

/** The default base cannot be found, because the sources are not in a git repository, such as those of an archive. */
export class NoHistory extends CannotCompare {}

/** Bundles the current specs below `root`. */
export async function currentContract(root: string): Promise<Contract> {
  const specs = await openSpecs(root);
  const [openapi, asyncapi, errors] = await Promise.all([
    specs.bundle('gateway'),
    specs.bundle('events'),
    readFile(join(root, 'openapi/errors.yaml'), 'utf8'),
  ]);
  return { openapi, asyncapi, errors: readErrors(errors) };
}

/**
 * Reads the base contract: `named` is a folder with both bundles, or a git ref. The default is the latest tag `v…` before
 * HEAD. Without a tag, it is the merge base with main, which is the last commit on main itself. In a shallow clone without
 * either, it is the current commit.
 *
 * @throws CannotCompare if there is no such contract
 */
export async function baseContract(root: string, named: string | undefined): Promise<Base> {
  if (named !== undefined && (await isFolder(named)))
    return { contract: await fromFolder(named), description: `the bundles in ${named}` };
  const { ref, description } =
    named === undefined ? await lastReleased(root) : { ref: named, description: named };
  const commit = await git(root, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  if (commit === undefined) throw new CannotCompare(`${ref} is neither a folder nor a git ref.`);
  return { contract: await fromCommit(root, commit), description: `${description} (${commit.slice(0, 7)})` };
}

async function lastReleased(root: string): Promise<{ ref: string; description: string }> {
  const tag = await git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*');
  if (tag !== undefined) return { ref: tag, description: `the last release, ${tag}` };
  for (const main of ['main', 'origin/main']) {
    const left = await git(root, 'merge-base', 'HEAD', main);
    if (left !== undefined) return { ref: left, description: `the merge base with ${main}` };
  }
  // A shallow clone of a commit has only this commit. The check covers what is not committed.
  if ((await git(root, 'rev-parse', '--is-shallow-repository')) === 'true')
    return { ref: 'HEAD', description: 'the current commit, because the clone is shallow' };
  if ((await git(root, 'rev-parse', '--git-dir')) === undefined)
    throw new NoHistory('Not compared: the sources are not in a git repository. Specify a base with --base.');
  throw new CannotCompare(
    'There is no release and no branch main to compare with. Specify a base with --base.',
  );
}

/** Reads the contract of a commit. @throws CannotCompare if the commit has none */
export async function fromCommit(root: string, commit: string): Promise<Contract> {
  const show = async (path: string) => {
    const text = await git(root, 'show', `${commit}:${path}`);
    if (text === undefined) throw new CannotCompare(`${commit.slice(0, 7)} has no ${path}.`);
    return text;
  };
  const [openapi, asyncapi, errors] = await Promise.all([
    show('generated/openapi.json'),
    show('generated/asyncapi.json'),
    git(root, 'show', `${commit}:openapi/errors.yaml`),
  ]);
  return parsed(openapi, asyncapi, errors);
}

async function fromFolder(folder: string): Promise<Contract> {
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch(() => {
      throw new CannotCompare(`${folder} has no ${name}.`);
    });
  const errors = readFile(join(folder, 'errors.yaml'), 'utf8').catch(() => undefined);
  return parsed(await read('openapi.json'), await read('asyncapi.json'), await errors);
}

function parsed(openapi: string, asyncapi: string, errors: string | undefined): Contract {
  return {
    openapi: JSON.parse(openapi) as JsonObject,
    asyncapi: JSON.parse(asyncapi) as JsonObject,
    errors: errors === undefined ? undefined : readErrors(errors),
  };
}

/** Output of a git command. Undefined if it fails. */
async function git(root: string, ...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return args[0] === 'show' ? stdout : stdout.trim();
  } catch {
    return undefined;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
