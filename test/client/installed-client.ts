import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packClient } from '../../openapi/tools/release/client-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export interface InstalledClient {
  /** A project that can import `@unigate/client`. */
  project: string;
  tarball: string;
  /** The unpacked package. */
  client: string;
  remove(): Promise<void>;
}

/** What `npm pack` makes of the client, unpacked where its dependencies are found and nothing looks for sources. */
export async function installClient(): Promise<InstalledClient> {
  const project = await mkdtemp(join(root, 'node_modules/.unigate-client-'));
  const client = join(project, 'node_modules/@unigate/client');
  const [tarball] = await Promise.all([packClient(root, project), mkdir(client, { recursive: true })]);
  await run('tar', ['-xzf', tarball, '-C', client, '--strip-components=1']);
  return { project, tarball, client, remove: () => rm(project, { recursive: true }) };
}
