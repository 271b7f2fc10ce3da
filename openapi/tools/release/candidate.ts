import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { neededVersion, readApprovalsIn } from '../breaking/comparison.ts';
import { CannotCompare, fromCommit } from '../breaking/contract.ts';
import { judge } from '../breaking/judge.ts';
import { isLower } from '../breaking/version.ts';
import { changelogSection } from './changelog.ts';
import { gitLine } from './git.ts';

/** The commit and version to release. */
export interface Candidate {
  version: string;
  /** `v` and the version. */
  tag: string;
  /** Full commit hash. */
  commit: string;
  /** Commit time. */
  time: Date;
  /** Changelog section of the version in Markdown, or the unreleased section if there is none. */
  notes: string;
  /** Reasons that prevent the release. */
  obstacles: string[];
}

/** Other files that contain the version, with a function that reads it. */
const alsoVersioned: Readonly<Record<string, (json: Versioned) => string | undefined>> = {
  'package-lock.json': ({ version }) => version,
  'client/package.json': ({ version }) => version,
  'test/conformance/package.json': ({ version }) => version,
  'generated/openapi.json': ({ info }) => info?.version,
  'generated/asyncapi.json': ({ info }) => info?.version,
};

interface Versioned {
  version?: string;
  info?: { version?: string };
}

/** Reads the release candidate from a work tree. @throws Error without a work tree or commit */
export async function releaseCandidate(root: string): Promise<Candidate> {
  const text = (name: string) => readFile(join(root, name), 'utf8');
  const json = async (name: string) => JSON.parse(await text(name)) as Versioned;
  const { version = '' } = await json('package.json');
  const tag = `v${version}`;
  const [commit, seconds] = (await gitLine(root, 'log', '-1', '--format=%H %ct')).split(' ');
  const changelog = await text('CHANGELOG.md');
  const section = changelogSection(changelog, version);
  const mismatches = Object.entries(alsoVersioned).map(async ([name, versionOf]) => {
    const other = versionOf(await json(name));
    return other === version ? [] : [`${name} has version ${other}, package.json has ${version}.`];
  });
  const changed = await gitLine(root, 'status', '--porcelain');
  const existingTag = await gitLine(root, 'tag', '--list', tag);
  return {
    version,
    tag,
    commit: commit ?? '',
    time: new Date(Number(seconds) * 1000),
    notes: section ?? changelogSection(changelog, 'Unreleased') ?? 'No notes.',
    obstacles: [
      ...(await Promise.all(mismatches)).flat(),
      ...(changed === '' ? [] : [`The work tree has uncommitted changes:\n${changed}`]),
      ...(existingTag === '' ? [] : [`The tag ${tag} exists. Increase the version in package.json.`]),
      ...(existingTag === '' ? await smallVersion(root, version) : []),
      ...(section === undefined ? [`CHANGELOG.md has no section [${version}].`] : []),
    ],
  };
}

/** The obstacle that the version is too small for the changes of the contract since the last release. */
async function smallVersion(root: string, version: string): Promise<string[]> {
  const tags = await gitLine(
    root,
    'tag',
    '--merged',
    'HEAD',
    '--sort',
    '-version:refname',
    '--list',
    'v[0-9]*',
  );
  // A prerelease promises nothing.
  const last = tags.split('\n').find((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
  if (last === undefined) return [];
  try {
    const [base, next, approvals] = await Promise.all([
      fromCommit(root, last),
      fromCommit(root, 'HEAD'),
      readApprovalsIn(root),
    ]);
    const { changes } = await judge(base, next);
    const needed = neededVersion(last.slice(1), changes, approvals);
    if (needed.severity === undefined || !isLower(version, needed.lowestVersion)) return [];
    return [
      `The version ${version} is too small for the changes of the contract since ${last}, of which at least one is ${needed.severity}. Use ${needed.lowestVersion} or later. \`npm run changelog -- --base ${last}\` lists the changes.`,
    ];
  } catch (error) {
    if (error instanceof CannotCompare) return [error.message];
    throw error;
  }
}
