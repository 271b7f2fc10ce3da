import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changelogSection } from './changelog.ts';
import { gitLine } from './git.ts';

/** What would be released. */
export interface Candidate {
  version: string;
  /** Of the release, `v` and its version. */
  tag: string;
  /** Full hash. */
  commit: string;
  /** When the commit was made. */
  time: Date;
  /** Markdown: the version's part of the changelog, or, while it has none, what is unreleased. */
  notes: string;
  /** Why it cannot be released as it is, in words. */
  obstacles: string[];
}

/** Files that tell the version too, each with what it has of it. */
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

/** Looks at a work tree. @throws Error when it is none, or has no commit */
export async function releaseCandidate(root: string): Promise<Candidate> {
  const text = (name: string) => readFile(join(root, name), 'utf8');
  const json = async (name: string) => JSON.parse(await text(name)) as Versioned;
  const { version = '' } = await json('package.json');
  const tag = `v${version}`;
  const [commit, seconds] = (await gitLine(root, 'log', '-1', '--format=%H %ct')).split(' ');
  const changelog = await text('CHANGELOG.md');
  const section = changelogSection(changelog, version);
  const told = Object.entries(alsoVersioned).map(async ([name, versionOf]) => {
    const other = versionOf(await json(name));
    return other === version ? [] : [`${name} has version ${other}, package.json has ${version}.`];
  });
  const changed = await gitLine(root, 'status', '--porcelain');
  const taken = await gitLine(root, 'tag', '--list', tag);
  return {
    version,
    tag,
    commit: commit ?? '',
    time: new Date(Number(seconds) * 1000),
    notes: section ?? changelogSection(changelog, 'Unreleased') ?? 'Nothing is told.',
    obstacles: [
      ...(await Promise.all(told)).flat(),
      ...(changed === '' ? [] : [`There are changes that are not committed:\n${changed}`]),
      ...(taken === '' ? [] : [`The tag ${tag} exists: raise the version in package.json.`]),
      ...(section === undefined ? [`CHANGELOG.md has no section [${version}].`] : []),
    ],
  };
}
