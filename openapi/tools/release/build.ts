import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../document.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import type { Candidate } from './candidate.ts';
import { collectionOf } from './collection.ts';
import { git } from './git.ts';
import { packClient, packConformance } from './pack.ts';

export const sumsFile = 'SHA256SUMS';

/** Committed files by their names in a release. `check:breaking -- --base` accepts the folder. */
const committed: Readonly<Record<string, string>> = {
  'openapi.json': 'generated/openapi.json',
  'openapi-3.0.json': 'generated/openapi-3.0.json',
  'openapi-clients.json': 'generated/openapi-clients.json',
  'asyncapi.json': 'generated/asyncapi.json',
  'errors.yaml': 'openapi/errors.yaml',
  'unigate-alerts.yaml': 'generated/monitoring/alerts.yaml',
  'unigate-dashboard.json': 'generated/monitoring/dashboard.json',
};

/**
 * Writes all files of a release to an empty folder, the checksums last. The same commit produces the same bytes, except
 * for the bill of materials, which also depends on npm.
 */
export async function buildRelease(root: string, candidate: Candidate, folder: string): Promise<void> {
  const { version, commit, time, notes } = candidate;
  const path = (name: string) => join(folder, name);
  const copied = Object.entries(committed).map(([name, source]) => copyFile(join(root, source), path(name)));
  // Waits for all files, so that no write continues after a failure.
  const parts = await Promise.allSettled([
    ...copied,
    packClient(root, folder),
    packConformance(root, folder),
    sources(root, candidate).then((bytes) => writeFile(path(`unigate-${version}.tar.gz`), bytes)),
    billOfMaterials(root, candidate).then((bill) => writeFile(path('sbom.cdx.json'), json(bill))),
    collection(root).then((text) => writeFile(path('unigate.postman_collection.json'), text)),
    writeFile(path('RELEASE_NOTES.md'), `# Unigate ${version}\n\n${notes}\n\nCommit ${commit}\n`),
  ]);
  for (const part of parts) if (part.status === 'rejected') throw part.reason;
  const names = (await readdir(folder)).sort();
  const sums = await Promise.all(names.map(async (name) => `${await sha256(path(name))}  ${name}\n`));
  await writeFile(path(sumsFile), sums.join(''));
  await Promise.all([...names, sumsFile].map((name) => utimes(path(name), time, time)));
}

async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** File names in a checksum file. */
export const namesIn = (sums: string): string[] =>
  sums.split('\n').flatMap((line) => (line === '' ? [] : basename(line.slice(66))));

async function sources(root: string, { version, commit }: Candidate): Promise<Buffer> {
  const tar = await git(root, 'archive', '--format=tar', `--prefix=unigate-${version}/`, commit);
  return gzipSync(tar, { level: 9 });
}

async function collection(root: string): Promise<string> {
  const openapi = JSON.parse(
    await readFile(join(root, 'generated/openapi-clients.json'), 'utf8'),
  ) as JsonObject;
  return json(collectionOf(openapi));
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
