import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseContract, NoHistory } from '../../../openapi/tools/breaking/contract.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const main = join(root, 'openapi/tools/breaking/main.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breaking-'));
  await writeBase();
});
afterAll(() => rm(folder, { recursive: true }));

function check(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Writes the current contract with a further path and error code as a base. */
async function writeBase(): Promise<void> {
  const [http, events, errors] = await Promise.all(
    ['generated/openapi.json', 'generated/asyncapi.json', 'openapi/errors.yaml'].map((name) =>
      readFile(join(root, name), 'utf8'),
    ),
  );
  const openapi = JSON.parse(http ?? '') as { paths: Record<string, unknown> };
  openapi.paths['/v1/once'] = {
    get: { operationId: 'getOnce', responses: { 200: { description: 'Once.' } } },
  };
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openapi));
  await writeFile(join(folder, 'asyncapi.json'), events ?? '');
  const removed =
    '- { code: removed_code, status: 400, families: [generic], when: Once., remedy: None., retry: never }\n';
  await writeFile(join(folder, 'errors.yaml'), `${errors}${removed}`);
}

test('prints removals compared with a folder as JSON, with the source file', async () => {
  const { code, stdout } = await check('--base', folder, '--json');
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      base: `the bundles in ${folder}`,
      passed: false,
      differences: 1,
      baseVersion: expect.stringMatching(/^\d/),
      severity: 'major',
      lowestVersion: expect.stringMatching(/^\d/),
      unapproved: [
        {
          document: 'openapi',
          rule: 'path-removed',
          severity: 'major',
          at: '#/paths/~1v1~1once',
          change: 'Path `/v1/once` was removed.',
          operations: ['getOnce'],
          area: 'shared',
          file: 'openapi/openapi.yaml',
          line: expect.any(Number),
        },
        {
          document: 'errors',
          rule: 'error-code-removed',
          severity: 'major',
          at: 'removed_code',
          change: 'The error code removed_code was removed.',
          operations: expect.arrayContaining(['createEmbedding']),
          area: 'errors',
          file: 'openapi/errors.yaml',
          line: 1,
        },
      ],
      approved: [],
      unused: [],
    },
  ]);
}, 60_000);

test('refuses the removal of a deprecated operation before its sunset date, and approves it afterwards', async () => {
  const bundle = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8')) as {
    paths: Record<string, { get: object }>;
  };
  const checkWith = async (date: string) => {
    const once = bundle.paths['/v1/once'];
    if (once === undefined) throw new Error('the base has no path /v1/once');
    Object.assign(once.get, {
      deprecated: true,
      'x-sunset': { since: '2020-01-01', date, replacement: 'None.' },
    });
    const base = await mkdtemp(join(folder, 'sunset-'));
    await writeFile(join(base, 'openapi.json'), JSON.stringify(bundle));
    for (const [name, source] of [
      ['asyncapi.json', 'generated/asyncapi.json'],
      ['errors.yaml', 'openapi/errors.yaml'],
    ] as const)
      await writeFile(join(base, name), await readFile(join(root, source), 'utf8'));
    return check('--base', base);
  };
  const early = await checkWith('9999-12-31');
  expect(early.code).toBe(1);
  expect(early.stdout).toContain('It may be removed after its sunset date 9999-12-31.');
  expect(early.stdout).toContain('1 removal before the sunset date cannot be approved.');
  expect(early.stdout).not.toContain('reason:');
  const late = await checkWith('2020-12-31');
  expect(late).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Its sunset date 2020-12-31 is over.'),
  });
}, 120_000);

test('exits with 2 if the base is unknown', async () => {
  const { code, stderr } = await check('--base', 'no-such-ref');
  expect([code, stderr]).toEqual([2, 'no-such-ref is neither a folder nor a git ref.\n']);
}, 60_000);

test('prints text with the operations, the lines and the needed version', async () => {
  const { code, stdout } = await check('--base', folder);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /major: Path `\/v1\/once` was removed\.\n.*\n {2}in openapi\/openapi\.yaml:\d+\n {2}affects getOnce/,
  );
  expect(stdout).toMatch(/The next version after \S+ must be \S+ or later\./);
}, 60_000);

test('prints SARIF with a rule, a file and a line per change', async () => {
  const { stdout } = await check('--base', folder, '--format', 'sarif');
  const { version, runs } = JSON.parse(stdout) as {
    version: string;
    runs: [{ tool: { driver: { rules: { id: string }[] } }; results: unknown[] }];
  };
  expect(version).toBe('2.1.0');
  expect(runs[0].tool.driver.rules.map(({ id }) => id)).toEqual(['error-code-removed', 'path-removed']);
  expect(runs[0].results).toEqual([
    {
      ruleId: 'path-removed',
      level: 'error',
      message: { text: 'Path `/v1/once` was removed. Affected: getOnce.' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'openapi/openapi.yaml', uriBaseId: 'ROOT' },
            region: { startLine: expect.any(Number) },
          },
          logicalLocations: [{ fullyQualifiedName: '#/paths/~1v1~1once' }],
        },
      ],
      partialFingerprints: { change: expect.stringContaining('path-removed') },
      suppressions: [],
    },
    expect.objectContaining({ ruleId: 'error-code-removed' }),
  ]);
}, 60_000);

test('prints a Markdown comment', async () => {
  const { stdout } = await check('--base', folder, '--format', 'markdown');
  expect(stdout).toMatch(/^## The contract breaks clients: 2 changes\n\nCompared with the bundles in /);
  expect(stdout).toMatch(
    /\n\| Path `\/v1\/once` was removed\. \| getOnce \| `openapi\/openapi\.yaml:\d+` \| `path-removed` \|\n/,
  );
}, 60_000);

test('rejects an unknown format', async () => {
  const { code, stderr } = await check('--format', 'yaml');
  expect([code, stderr]).toEqual([2, '--format must be one of text, json, sarif, markdown, not yaml.\n']);
});

test('the changelog lists the changes by area, with the needed version, as Markdown and JSON', async () => {
  const changelog = join(root, 'openapi/tools/breaking/changelog.ts');
  const { stdout } = await run(process.execPath, [changelog, '--base', folder]);
  expect(stdout).toMatch(
    /^# Changes of the contract\n\nCompared with the bundles in .*must be \S+ or later\.\n/,
  );
  expect(stdout).toMatch(/\n## errors\n\n### Breaking\n\n- The error code removed_code was removed\. \(/);
  expect(stdout).toContain('\n## shared\n\n### Breaking\n\n- Path `/v1/once` was removed. (getOnce)\n');
  const json = await run(process.execPath, [changelog, '--base', folder, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    severity: 'major',
    areas: {
      errors: [{ rule: 'error-code-removed', severity: 'major' }],
      shared: [{ rule: 'path-removed', severity: 'major', operations: ['getOnce'] }],
    },
  });
}, 60_000);

test('a shallow clone without a release and without main is compared with its commit', async () => {
  const clone = join(folder, 'clone');
  const origin = join(folder, 'origin');
  const git = (cwd: string, ...args: string[]) =>
    run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd });
  await mkdir(origin);
  await git(origin, 'init', '--quiet', '--initial-branch', 'other');
  for (const message of ['One', 'Two'])
    await git(origin, 'commit', '--quiet', '--allow-empty', '-m', message);
  await git(folder, 'clone', '--quiet', '--depth', '1', `file://${origin}`, clone);
  await git(clone, 'checkout', '--quiet', '--detach');
  // The commit is found, and has no contract.
  await expect(baseContract(clone, undefined)).rejects.toThrow(
    /^\w{7} has no generated\/(openapi|asyncapi)\.json\.$/,
  );
  await expect(baseContract(folder, undefined)).rejects.toThrow(NoHistory);
  await expect(baseContract(origin, undefined)).rejects.toThrow(/^There is no release and no branch main/);
});
