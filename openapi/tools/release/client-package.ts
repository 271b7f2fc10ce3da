import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packContract } from './packed-contract.ts';

const run = promisify(execFile);

/** Builds the client, apart from the sources, and packs it into a folder. Returns the path of the tarball. */
export async function packClient(root: string, folder: string): Promise<string> {
  const client = join(root, 'client');
  const stage = await mkdtemp(join(tmpdir(), 'unigate-client-'));
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const project = join(client, 'tsconfig.build.json');
    await run(process.execPath, [tsc, '-p', project, '--outDir', join(stage, 'dist')]);
    await packContract(root, join(stage, 'dist'));
    const { files } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as { files: string[] };
    const own = ['package.json', 'README.md', ...files.filter((name) => name !== 'dist')];
    await Promise.all(own.map((name) => cp(join(client, name), join(stage, name), { recursive: true })));
    await cp(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', pack, { cwd: stage });
    const [packed] = Object.values(JSON.parse(stdout) as { filename: string }[]);
    return join(folder, packed?.filename ?? '');
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}
