import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildRelease, namesIn, sumsFile } from './build.ts';
import { type Candidate, releaseCandidate } from './candidate.ts';
import { gitLine } from './git.ts';

const help = `npm run release -- [--dry-run] [--out FOLDER]

Builds a release into a folder: the contract in four forms, a request collection, the packages of the client and the
conformance kit, the sources, the bill of materials (CycloneDX), the release notes and the checksums. Then it tags the
commit v<version>. It does not publish; it prints the remaining commands.

  --dry-run  builds without tagging and lists what prevents the release
  --out      default: .release/<version>; replaces a previous release in that folder`;

/** The release cannot be built. The message states the reason. */
class CannotRelease extends Error {}

try {
  await main();
} catch (error) {
  console.error(isExpected(error) ? error.message : error);
  process.exitCode = 1;
}

/** True for wrong flags, git errors and missing files, of which only the message is printed. */
function isExpected(error: unknown): error is Error {
  return error instanceof CannotRelease || (error instanceof Error && 'code' in error);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  if (values.help) return console.log(help);
  const root = values.root ?? fileURLToPath(new URL('../../..', import.meta.url));
  const candidate = await releaseCandidate(root);
  const { tag, version, obstacles } = candidate;
  if (obstacles.length > 0 && !values['dry-run']) throw new CannotRelease(obstacles.join('\n'));

  const folder = resolve(values.out ?? join(root, '.release', version));
  const previous = await previousRelease(folder);
  // Builds in a sibling folder, so that a failed build does not change the target folder.
  const fresh = await mkdtemp(`${folder}-`);
  try {
    await buildRelease(root, candidate, fresh);
    for (const name of previous) await rm(join(folder, name), { force: true });
    for (const name of await readdir(fresh)) await rename(join(fresh, name), join(folder, name));
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  await list(folder);
  if (values['dry-run']) {
    for (const obstacle of obstacles) console.log(`\nprevents the release: ${obstacle}`);
    return console.log(`\nDry run: nothing is tagged.`);
  }
  await tagCommit(root, candidate);
  console.log(`
Tagged ${tag}. Run the remaining commands, which cannot be undone:
  git push origin ${tag}
  npm publish ${join(folder, `unigate-client-${version}.tgz`)}
  npm publish ${join(folder, `unigate-conformance-${version}.tgz`)}
Then attach the files of ${folder} to the release.`);
}

/** Creates the folder and returns its files of a previous release. @throws CannotRelease if it has other files */
async function previousRelease(folder: string): Promise<Set<string>> {
  await mkdir(folder, { recursive: true });
  const sums = await readFile(join(folder, sumsFile), 'utf8').catch(() => '');
  const known = new Set(sums === '' ? [] : [...namesIn(sums), sumsFile]);
  const other = (await readdir(folder)).find((name) => !known.has(name));
  if (other === undefined) return known;
  throw new CannotRelease(
    `--out: ${folder} contains other files, such as ${other}. Specify an empty folder.`,
  );
}

async function list(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).sort()) {
    const { size } = await stat(join(folder, name));
    console.log(`${String(Math.ceil(size / 1000)).padStart(8)} KB  ${name}`);
  }
  console.log(`\nin ${folder}; sha256sum -c ${sumsFile} checks them.`);
}

async function tagCommit(root: string, { tag, version, commit }: Candidate): Promise<void> {
  await gitLine(root, 'tag', '--annotate', '--message', `Unigate ${version}`, tag, commit);
}
