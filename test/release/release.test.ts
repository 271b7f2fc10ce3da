import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BillOfMaterials } from '../../openapi/tools/release/bill-of-materials.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const main = join(root, 'openapi/tools/release/main.ts');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

let folder: string;
let copy: string;
let release: string;
let output: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-'));
  copy = await copyOf(root);
  release = join(folder, 'first');
  output = (await build('--out', release)).stdout;
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Creates a repository with a copy of the work tree and a changelog section for the version. */
async function copyOf(source: string): Promise<string> {
  const path = join(folder, 'copy');
  await mkdir(path);
  const git = (...args: string[]) => run('git', args, { cwd: path });
  await git('init', '--quiet');
  await git('config', 'user.name', 'Test');
  await git('config', 'user.email', 'test@example.com');
  await git('--git-dir', '.git', '--work-tree', source, 'add', '--all');
  await git('commit', '--quiet', '--message', 'Copy');
  await git('checkout', '--quiet', '--force');
  const changelog = await readFile(join(path, 'CHANGELOG.md'), 'utf8');
  const section = `\n## [${version}]\n\n- All of it.\n\n## `;
  await writeFile(join(path, 'CHANGELOG.md'), changelog.replace('\n## ', section));
  await git('commit', '--quiet', '--all', '--message', 'Release');
  await symlink(join(source, 'node_modules'), join(path, 'node_modules'), 'dir');
  await writeFile(join(path, '.git/info/exclude'), 'node_modules\n');
  return path;
}

function build(...args: string[]) {
  const env = { ...process.env, TZ: 'Pacific/Auckland', LC_ALL: 'C', SOURCE_DATE_EPOCH: '1' };
  return run(process.execPath, [main, '--root', copy, ...args], { cwd: folder, env });
}

const read = (name: string) => readFile(join(release, name), 'utf8');
const git = async (...args: string[]) => (await run('git', args, { cwd: copy })).stdout.trim();

test('contains all files, with their checksums and the time of the commit', async () => {
  const names = [
    'RELEASE_NOTES.md',
    'asyncapi.json',
    'errors.yaml',
    'openapi-3.0.json',
    'openapi-clients.json',
    'openapi.json',
    'sbom.cdx.json',
    `unigate-${version}.tar.gz`,
    'unigate-alerts.yaml',
    `unigate-client-${version}.tgz`,
    `unigate-conformance-${version}.tgz`,
    'unigate-dashboard.json',
    'unigate.postman_collection.json',
  ];
  expect((await readdir(release)).sort()).toEqual(['SHA256SUMS', ...names].sort());
  const sums = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(release, name));
      return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
    }),
  );
  expect(await read('SHA256SUMS')).toBe(sums.join(''));
  const seconds = Number(await git('log', '-1', '--format=%ct'));
  for (const name of [...names, 'SHA256SUMS'])
    expect((await stat(join(release, name))).mtimeMs, name).toBe(seconds * 1000);
});

test('tags the commit once', async () => {
  expect(output).toContain(`git push origin v${version}`);
  expect(await git('describe', '--exact-match', '--match', 'v[0-9]*')).toBe(`v${version}`);
  expect(await read('RELEASE_NOTES.md')).toContain('- All of it.');
  const again = build('--out', join(folder, 'again'));
  await expect(again).rejects.toMatchObject({ stderr: expect.stringContaining(`v${version} exists`) });
  expect(await readdir(folder)).not.toContain('again');
});

test('a second build that replaces the release has the same checksums', async () => {
  const out = join(folder, 'used');
  await mkdir(out);
  await writeFile(join(out, 'SHA256SUMS'), `${'0'.repeat(64)}  old.json\n`);
  await writeFile(join(out, 'old.json'), '{}');
  await writeFile(join(out, 'notes.txt'), 'A note.');
  const again = () => build('--dry-run', '--out', out);
  await expect(again()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('notes.txt') });
  expect((await readdir(out)).length).toBe(3);
  await rm(join(out, 'notes.txt'));
  expect((await again()).stdout).toContain('Dry run: nothing is tagged.');
  expect(await readdir(out)).toEqual(await readdir(release));
  expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toBe(await read('SHA256SUMS'));
}, 120_000);

test('the contract equals generated/, and is a base for the breaking-change check', async () => {
  for (const name of ['openapi.json', 'openapi-3.0.json', 'openapi-clients.json', 'asyncapi.json'])
    expect(await read(name)).toBe(await readFile(join(root, 'generated', name), 'utf8'));
  const check = join(root, 'openapi/tools/breaking/main.ts');
  const { stdout, stderr } = await run(process.execPath, [check, '--base', release]).catch((error) => error);
  expect(stdout).toContain(`Compared with the bundles in ${release}: 0 differences`);
  expect(stderr).not.toContain('Error codes were not compared');
}, 120_000);

test('the sources are those of the commit', async () => {
  const { stdout } = await run('tar', ['-tzf', join(release, `unigate-${version}.tar.gz`)], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const prefix = `unigate-${version}/`;
  const files = stdout.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
  const committed = (await git('ls-tree', '-r', '--name-only', 'HEAD')).split('\n');
  expect(files.map((name) => name.replace(prefix, '')).sort()).toEqual(committed.sort());
});

test('the bill of materials lists the runtime packages only, with the time of the commit', async () => {
  const bill = JSON.parse(await read('sbom.cdx.json')) as BillOfMaterials;
  const { dependencies, devDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  ) as {
    [kind in 'dependencies' | 'devDependencies']: Record<string, string>;
  };
  const refs = bill.components.map((component) => component['bom-ref']);
  for (const [name, exact] of Object.entries(dependencies)) expect(refs).toContain(`${name}@${exact}`);
  for (const name of ['vitest', 'typescript', 'knip'])
    expect(refs).not.toContain(`${name}@${devDependencies[name]}`);
  const named = new Set([bill.metadata.component['bom-ref'], ...refs]);
  expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !named.has(ref))).toEqual(
    [],
  );
  expect(bill.metadata.component.name).toBe('unigate');
  const time = new Date(Number(await git('log', '-1', '--format=%ct')) * 1000);
  expect(bill.metadata.timestamp).toBe(time.toISOString());
  expect(bill.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
});

describe('the package, installed without a network', () => {
  let project: string;
  let gateway: TestGateway;
  beforeAll(async () => {
    project = join(folder, 'project');
    await mkdir(project);
    // The packages come from this folder instead of a registry.
    const local = (await dependenciesOf(join(root, 'client'))).map((name) => [
      name,
      `file:${join(root, 'node_modules', name)}`,
    ]);
    const tarball = `file:${join(release, `unigate-client-${version}.tgz`)}`;
    const dependencies = { ...Object.fromEntries(local), '@unigate/client': tarball };
    const manifest = JSON.stringify({ private: true, type: 'module', dependencies });
    await writeFile(join(project, 'package.json'), manifest);
    await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit'], { cwd: project });
    await writeFile(join(project, 'speak.js'), program);
    gateway = await startTestGateway();
  }, 120_000);
  afterAll(() => gateway.close());

  const program = `import { Unigate } from '@unigate/client';
const client = new Unigate();
const audio = await client.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' });
console.log(audio.contentType, (await audio.bytes()).length > 1000);
const session = await client.realtime('alpha3-tts-flash-realtime');
let bytes = 0;
for await (const chunk of session.speak('Good morning.', { voice: 'Aria' })) bytes += chunk.length;
console.log(bytes > 1000);
`;

  // CI lists other versions of Node, separated by the path delimiter.
  const nodes = [process.execPath, ...(process.env.CLIENT_NODES ?? '').split(delimiter)].filter(
    (node) => node,
  );
  test.each(nodes)('creates and streams speech, and runs from the command line, on %s', async (node) => {
    const env = { ...process.env, UNIGATE_BASE_URL: gateway.url, UNIGATE_API_KEY: gateway.key };
    expect((await run(node, ['speak.js'], { cwd: project, env })).stdout).toBe('audio/wav true\ntrue\n');
    const unigate = join(project, 'node_modules/@unigate/client/bin/unigate.js');
    expect((await run(node, [unigate, 'models'], { env })).stdout).toContain('alpha3-tts-flash');
  });
});

/** Returns the direct and indirect dependencies of the package in a folder. */
async function dependenciesOf(source: string, found = new Set<string>()): Promise<string[]> {
  const manifest = await readFile(join(source, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  for (const name of Object.keys(dependencies).filter((other) => !found.has(other)))
    await dependenciesOf(join(root, 'node_modules', name), found.add(name));
  return [...found];
}
