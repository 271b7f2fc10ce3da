import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packClient, packConformance } from '../../openapi/tools/release/pack.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export interface InstalledPackage {
  /** A project that can import the package by its name. */
  project: string;
  tarball: string;
  /** The unpacked package. */
  folder: string;
  remove(): Promise<void>;
}

export const installClient = (): Promise<InstalledPackage> => install('@unigate/client', packClient);

export const installConformance = (): Promise<InstalledPackage> =>
  install('@unigate/conformance', packConformance);

/** Packs a package and unpacks it below `node_modules`, where Node finds its dependencies but not the sources. */
async function install(
  name: string,
  pack: (root: string, folder: string) => Promise<string>,
): Promise<InstalledPackage> {
  const project = await mkdtemp(join(root, 'node_modules/.unigate-package-'));
  const folder = join(project, 'node_modules', name);
  const [tarball] = await Promise.all([pack(root, project), mkdir(folder, { recursive: true })]);
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  return { project, tarball, folder, remove: () => rm(project, { recursive: true }) };
}
