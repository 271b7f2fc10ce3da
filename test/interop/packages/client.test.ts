import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { type InstalledPackage, installClient } from '../../support/installed-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const client = join(root, 'client');
const readme = await readFile(join(client, 'README.md'), 'utf8');

const commonJsProgram = `
import { requestIdOf, Unigate } from '@unigate/client';
export async function use(client: Unigate): Promise<string | undefined> {
  const video = await client.videos.create({ model: 'gamma3.0-video', prompt: 'A boat.' });
  // @ts-expect-error a number
  const created: string = video.created_at;
  const { data } = await client.call('searchLogs', { params: { query: { keyword: created } } });
  // @ts-expect-error a number
  const total: string = data.total;
  // @ts-expect-error no such parameter
  await client.call('searchLogs', { params: { query: { keyward: total } } });
  const read = await client.http.GET('/v1/videos/{task_id}', { params: { path: { task_id: 'x' } } });
  // @ts-expect-error a string
  const id: number | undefined = read.data?.id;
  return id === undefined ? undefined : requestIdOf(video);
}
`;

describe('the package', () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await installClient();
  });
  afterAll(() => installed.remove());

  test('has a command line that runs without TypeScript', async () => {
    const { version } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as {
      version: string;
    };
    const program = join(installed.folder, 'bin/unigate.js');
    const plain = ['--no-experimental-strip-types', program, '--version'];
    expect((await run(process.execPath, plain)).stdout).toBe(`${version}\n`);
  });

  test('passes publint', async () => {
    const { messages } = await publint({ pkgDir: installed.folder, pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  test('has types that every module resolution resolves', async () => {
    const file = await readFile(installed.tarball);
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(file)));
    expect(analysis.types ? analysis.problems : ['no types']).toEqual([]);
  });

  test('has complete types in a CommonJS file, with `module: node16`', async () => {
    await writeFile(join(installed.project, 'use.cts'), commonJsProgram);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options =
      '--ignoreConfig --noEmit --strict --module node16 --target es2022 --lib es2023,dom --skipLibCheck --types node';
    const args = [tsc, ...options.split(' '), 'use.cts'];
    const compiled = run(process.execPath, args, { cwd: installed.project });
    expect(await compiled.catch((error: unknown) => error)).toMatchObject({ stdout: '' });
  });

  test('can be required', async () => {
    const program = `const { requestIdOf, Unigate } = require('@unigate/client');
      console.log(new Unigate({ apiKey: 'k' }).baseUrl, typeof requestIdOf);`;
    await writeFile(join(installed.project, 'use.cjs'), program);
    const args = ['--no-experimental-require-module', join(installed.project, 'use.cjs')];
    expect((await run(process.execPath, args, { env: {} })).stdout).toBe('http://127.0.0.1:8080 function\n');
  });

  test('has a homepage and a repository', async () => {
    const text = await readFile(join(installed.folder, 'package.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      homepage: expect.stringMatching(/^https:/),
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:.*\.git$/), directory: 'client' },
    });
  });

  test('can be imported by its name, with types', async () => {
    const { exports } = JSON.parse(await readFile(join(installed.folder, 'package.json'), 'utf8')) as {
      exports: { '.': { import: { types: string; default: string } } };
    };
    const evaluate = async (code: string) => {
      const program = `import { Unigate } from ${JSON.stringify(join(installed.folder, exports['.'].import.default))};
        const client = new Unigate({ apiKey: 'k' });
        ${code}`;
      const plain = ['--no-experimental-strip-types', '--input-type=module', '--eval', program];
      return (await run(process.execPath, plain, { env: {} })).stdout;
    };
    expect(await evaluate('console.log(client.baseUrl);')).toBe('http://127.0.0.1:8080\n');
    expect(await readFile(join(installed.folder, exports['.'].import.types), 'utf8')).toContain('Unigate');
    const save = `await client.videos.downloadTo('x', 'no/such/folder/x.mp4')
      .catch(({ code }) => console.log(code));`;
    expect(await evaluate(save)).toBe('ENOENT\n');
    const generated = await readdir(join(installed.folder, 'dist/generated'));
    expect(generated).toEqual(expect.arrayContaining(['http.d.ts', 'events.d.ts', 'operations.d.ts']));
  });
});

describe('the README', () => {
  const rows = [
    ...readme.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) ([^`]+)` \| `client\.((?:\w+\.)+\w+)/gm),
  ];

  test('contains only paths of the contract and existing methods', async () => {
    const { Unigate } = await import('../../../client/index.ts');
    const instance: object = new Unigate({ apiKey: 'k' });
    expect(rows.length).toBeGreaterThan(3);
    for (const [row, method, path, names] of rows) {
      const operation = Object.values(operations).find(
        (facts) => facts.method.toUpperCase() === method && facts.path === path,
      );
      expect(operation, row).toBeDefined();
      expect(instance, row).toHaveProperty(names ?? '', expect.any(Function));
    }
  });

  test('contains every method of the sockets', async () => {
    const { RealtimeSession } = await import('../../../client/realtime/realtime-session.ts');
    const { InferenceTask } = await import('../../../client/inference/inference-task.ts');
    const internal = ['constructor', 'hasEnded', 'run', 'end', 'handleEvent', 'handleAudio'];
    for (const { prototype } of [RealtimeSession, InferenceTask]) {
      for (const name of Object.getOwnPropertyNames(prototype).filter((method) => !internal.includes(method)))
        expect(readme).toMatch(new RegExp(`\`${name}(\\(.*)?\``));
    }
  });

  test('contains every method of the client', async () => {
    const { Unigate } = await import('../../../client/index.ts');
    const instance = new Unigate({ apiKey: 'k' });
    const { admin, baseUrl, http, ...areas } = instance;
    const nested = Object.entries(admin).map(([name, area]): [string, object] => [`admin.${name}`, area]);
    const all: [string, object][] = [['admin', admin], ...nested, ...Object.entries(areas)];
    expect(all.length).toBeGreaterThan(10);
    for (const [area, methods] of all) {
      for (const name of methodsOf(Object.getPrototypeOf(methods)))
        expect(readme).toMatch(new RegExp(`client\\.${area}\\.${name}\\(|^\\| \`${name}\\(`, 'm'));
    }
  });

  test('contains every method that all tasks share', async () => {
    const { FileTasks } = await import('../../../client/tasks/file-tasks.ts');
    const { Tasks } = await import('../../../client/tasks/tasks.ts');
    const all = [FileTasks.prototype, Tasks.prototype].flatMap(methodsOf);
    for (const name of all) expect(readme).toMatch(new RegExp(`\`${name}\\(`));
  });
});

function methodsOf(prototype: object): string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
}
