import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packContract } from './pack-contract.ts';

const run = promisify(execFile);

/** Builds the client and packs it into `folder`. Returns the path of the tarball. */
export const packClient = (root: string, folder: string): Promise<string> =>
  pack(root, 'client', folder, async (dist) => {
    const commonJs = join(dist, 'cjs');
    await compile(root, join(root, 'client/tsconfig.cjs.json'), commonJs);
    await writeFile(join(commonJs, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`);
  });

/** Builds the conformance kit, with the contract in it, and packs it into `folder`. Returns the path of the tarball. */
export const packConformance = (root: string, folder: string): Promise<string> =>
  pack(root, 'test/conformance', folder, (dist) => packContract(root, dist));

/** Builds in a temporary folder, so that the sources stay unchanged. */
async function pack(
  root: string,
  workspace: string,
  folder: string,
  addFiles?: (dist: string) => Promise<void>,
): Promise<string> {
  const source = join(root, workspace);
  const stage = await mkdtemp(join(tmpdir(), 'unigate-package-'));
  try {
    const dist = join(stage, 'dist');
    await compile(root, join(source, 'tsconfig.build.json'), dist);
    await addFiles?.(dist);
    const { files } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { files: string[] };
    const names = ['package.json', 'README.md', ...files.filter((name) => name !== 'dist')];
    await Promise.all(names.map((name) => cp(join(source, name), join(stage, name), { recursive: true })));
    await cp(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { cwd: stage });
    const [packed] = Object.values(JSON.parse(stdout) as { filename: string }[]);
    return join(folder, packed?.filename ?? '');
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function compile(root: string, project: string, outDir: string): Promise<void> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', project, '--outDir', outDir]);
}
