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
  /** Undefined: a folder of bundles without an errors.yaml. */
  errors: readonly ErrorEntry[] | undefined;
}

/** A contract to compare with, and what it is in words. */
export interface Base {
  contract: Contract;
  words: string;
}

/** What keeps the check from judging, in words for who runs it. */
export class CannotJudge extends Error {
  override readonly name = 'CannotJudge';
}

/** The contract as the specs below `root` have it now, bundled afresh. */
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
 * The contract that `named` is, a folder with both bundles or a git ref. Without a name the last released one: the latest
 * tag `v…` behind HEAD, or, while there is none, where the branch has left main; on main itself the last commit.
 *
 * @throws CannotJudge when there is no such contract
 */
export async function baseContract(root: string, named: string | undefined): Promise<Base> {
  if (named !== undefined && (await isFolder(named)))
    return { contract: await fromFolder(named), words: `the bundles in ${named}` };
  const { ref, words } = named === undefined ? await lastReleased(root) : { ref: named, words: named };
  const commit = await git(root, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  if (commit === undefined) throw new CannotJudge(`${ref} is neither a folder nor known to git.`);
  return { contract: await fromCommit(root, commit), words: `${words} (${commit.slice(0, 7)})` };
}

async function lastReleased(root: string): Promise<{ ref: string; words: string }> {
  const tag = await git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*');
  if (tag !== undefined) return { ref: tag, words: `the last release, ${tag}` };
  for (const main of ['main', 'origin/main']) {
    const left = await git(root, 'merge-base', 'HEAD', main);
    if (left !== undefined) return { ref: left, words: `where the branch has left ${main}` };
  }
  throw new CannotJudge('There is no release and no main to compare with: name a base with --base.');
}

async function fromCommit(root: string, commit: string): Promise<Contract> {
  const show = async (path: string) => {
    const text = await git(root, 'show', `${commit}:${path}`);
    if (text === undefined) throw new CannotJudge(`${commit.slice(0, 7)} has no ${path}.`);
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
      throw new CannotJudge(`${folder} has no ${name}.`);
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

/** Undefined where git says no. */
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
