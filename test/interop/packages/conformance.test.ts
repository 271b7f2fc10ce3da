import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstalledPackage, installConformance } from '../../support/installed-package.ts';

const run = promisify(execFile);

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installConformance();
});
afterAll(() => installed.remove());

test('the command runs without TypeScript and has the contract built in', async () => {
  const program = join(installed.folder, 'bin/unigate-conformance.js');
  const server = ['--base-url', 'http://127.0.0.1:9', '--key', 'k'];
  const args = [
    '--no-experimental-strip-types',
    program,
    ...server,
    '--only',
    'createSpeech',
    '--only',
    'nothing',
  ];
  await expect(run(process.execPath, args)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nothing is neither an operation of the contract nor an area (speech, '),
  });
});

test('the tarball is smaller than 450 KB', async () => {
  const { size } = await stat(installed.tarball);
  expect(size).toBeLessThan(450_000);
});

test('a program can import it by its name', async () => {
  const program = `import { runConformance } from '@unigate/conformance'; console.log(typeof runConformance);`;
  const args = ['--no-experimental-strip-types', '--input-type=module', '--eval', program];
  expect((await run(process.execPath, args, { cwd: installed.project })).stdout).toBe('function\n');
});

test('publint reports no problem', async () => {
  const { messages } = await publint({ pkgDir: installed.folder, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test('ES module imports resolve its types', async () => {
  const file = await readFile(installed.tarball);
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(file)));
  const problems = analysis.types ? analysis.problems : ['no types'];
  // The package supports neither `require` nor the module resolution of Node 10.
  const relevant = problems.filter(
    (problem) =>
      typeof problem === 'string' ||
      !('resolutionKind' in problem) ||
      !['node10', 'node16-cjs'].includes(problem.resolutionKind),
  );
  expect(relevant).toEqual([]);
});
