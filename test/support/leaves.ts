import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Tests that nothing else depends on, and that need not run while all that they look at is as it was. */
export interface Leaf {
  title: string;
  /** Files and folders of tests, from the root. */
  tests: readonly string[];
  /** Files and folders that they look at, beside themselves and `everyLeafs`. */
  inputs: readonly string[];
  /** Files and folders that they name as well, with the reason why what these import is not theirs to try. */
  elsewhere?: Readonly<Record<string, string>>;
}

/** What the tests of every leaf look at: versions of packages, and how tests are run. */
export const everyLeafs: readonly string[] = [
  'package.json',
  'package-lock.json',
  'redocly.yaml',
  'tsconfig.json',
  'vitest.config.ts',
];

const contract: readonly string[] = ['openapi/', 'asyncapi/', 'generated/'];

/** What the mock takes of the gateway. */
const theMocks: readonly string[] = [
  'server/calls/model-failure.ts',
  'server/http/',
  'server/lib/',
  'server/models/',
  'server/telemetry/',
];

const aGateway = {
  'test/support/gateway.ts':
    'they take any gateway that keeps to the contract, and the tests of the contract hold ours to it',
};

/** In CI and with `--all`, all of them run. `leaves.test.ts` follows what they import and name. */
export const leaves: readonly Leaf[] = [
  {
    title: 'the sandbox by itself',
    tests: ['test/sandbox/', 'test/sandbox-media/'],
    inputs: [
      'server/sandbox/',
      'server/outbound/',
      'test/verification/',
      'test/support/upstream.ts',
      'openapi/tools/document.ts',
      'test/conformance/contract/',
      'generated/catalogue.ts',
      'generated/event-validators.js',
      'generated/events.ts',
    ],
    elsewhere: { 'test/support/recorded-errors.ts': 'it only records errors of gateways' },
  },
  {
    title: 'generators of other teams',
    tests: ['test/spec/generators.test.ts'],
    inputs: [...contract, 'test/support/generators.ts', 'test/support/generated-calls.ts'],
    elsewhere: aGateway,
  },
  {
    title: 'new operations',
    tests: ['test/spec/new/'],
    inputs: [
      ...contract,
      'biome.json',
      'server/operations/',
      'server/http/handler.ts',
      'test/contract/',
      'test/spec/statuses.ts',
      'test/support/contract.ts',
      'test/conformance/wire/http-response.ts',
    ],
    elsewhere: {
      'server/operations/': 'handlers are only listed and type-checked beside a new one',
      'test/contract/':
        'one of these is run beside a new one, on a gateway that has only to come to its handler',
    },
  },
  {
    title: 'the loop of a designer',
    tests: ['test/spec/dev/'],
    inputs: [...contract, 'server/operations/service/docs-site.ts', 'server/http/contract-documents.ts'],
    elsewhere: { 'server/operations/registry.ts': 'the small contract that they write has none' },
  },
  {
    title: 'what breaks clients',
    tests: ['test/spec/breaking/'],
    inputs: [...contract, 'test/conformance/contract/'],
  },
  {
    title: 'releases',
    tests: ['test/release/'],
    inputs: [...contract, 'client/', 'test/conformance/', 'CHANGELOG.md', 'LICENSE'],
    elsewhere: aGateway,
  },
  {
    title: 'the published packages',
    tests: [
      'test/client/package.test.ts',
      'test/client/browser.test.ts',
      'test/client/process.test.ts',
      'test/conformance/test/package.test.ts',
    ],
    inputs: [
      ...contract,
      'client/',
      'test/conformance/',
      'test/client/',
      'test/docs/chromium.ts',
      'test/support/child-node.ts',
      'test/support/installed-package.ts',
      'test/support/end-with-parent.ts',
      'test/support/one-file.ts',
      'LICENSE',
    ],
    elsewhere: aGateway,
  },
  {
    title: 'guides and pages',
    tests: ['test/docs/guides.test.ts', 'test/docs/browser.test.ts'],
    inputs: [
      ...contract,
      'client/',
      'test/conformance/',
      'test/docs/',
      'test/mock/',
      'test/support/child-node.ts',
      'test/support/end-with-parent.ts',
      'test/support/one-file.ts',
      'server/operations/service/docs-site.ts',
      ...theMocks,
    ],
    elsewhere: aGateway,
  },
  {
    title: 'workflows',
    tests: ['test/workflows/'],
    inputs: [...contract, 'test/conformance/contract/', 'server/http/routes.ts', 'server/lib/failure.ts'],
    elsewhere: aGateway,
  },
  {
    title: 'the mock by itself',
    tests: [
      'test/mock/behave.test.ts',
      'test/mock/control-page.test.ts',
      'test/mock/documented-answers.test.ts',
      'test/mock/main.test.ts',
      'test/mock/server.test.ts',
      'test/mock/socket-dialogues.test.ts',
      'test/mock/socket-handshake.test.ts',
      'test/mock/socket-refusals.test.ts',
      'test/mock/socket-scripts.test.ts',
    ],
    inputs: [...contract, 'test/mock/', 'test/docs/', 'test/support/', 'test/conformance/', ...theMocks],
  },
];

/**
 * Those of the leaves that need not run: nothing that they look at differs from where the branch has left main, committed or not;
 * on main itself, from what is committed. None where git cannot say.
 *
 * @param root folder of the project
 */
export async function unchanged(root: string, of: readonly Leaf[] = leaves): Promise<Leaf[]> {
  const files = await changedFiles(root);
  if (files === undefined) return [];
  return of.filter((leaf) => !files.some((file) => looksAt(leaf, file)));
}

/** Whether the tests of a leaf look at a file or folder. */
export const looksAt = ({ tests, inputs }: Leaf, path: string): boolean =>
  isIn([...everyLeafs, ...tests, ...inputs], path);

/** Whether a file or folder is one of these, or below one. */
export const isIn = (places: readonly string[], path: string): boolean =>
  places.some((place) => path === place || (place.endsWith('/') && `${path}/`.startsWith(place)));

/** What differs from where the branch has left main. Undefined: git cannot say. */
async function changedFiles(root: string): Promise<string[] | undefined> {
  for (const main of ['main', 'origin/main']) {
    const base = await git(root, 'merge-base', 'HEAD', main);
    if (base === undefined) continue;
    const [changed, added] = await Promise.all([
      git(root, 'diff', '--name-only', base.trim()),
      git(root, 'ls-files', '--others', '--exclude-standard'),
    ]);
    if (changed === undefined || added === undefined) return undefined;
    return `${changed}${added}`.split('\n').filter((file) => file !== '');
  }
  return undefined;
}

/** Undefined where git says no, or is not there. */
async function git(root: string, ...args: string[]): Promise<string | undefined> {
  return run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
