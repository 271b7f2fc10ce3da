import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../server/store/store.ts';
import { databaseUrl, engines, TestStore } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { runStatement } from '../store/raw-rows.ts';
import { compiled } from '../support/child-node.ts';

const program = fileURLToPath(new URL('../../server/admin.ts', import.meta.url));

function admin(parameters: readonly string[], environment: Record<string, string> = {}) {
  return new Promise<{ code: number; out: string; error: string }>((resolve) => {
    const env = { PATH: process.env.PATH, ...compiled, ...environment };
    const child = execFile(process.execPath, [program, ...parameters], { env }, (_, out, error) =>
      resolve({ code: child.exitCode ?? -1, out, error }),
    );
  });
}

describe.each(engines)('the ledger audit on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let environment: Record<string, string>;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    const url = new URL(databaseUrl);
    url.searchParams.set('options', `-csearch_path=${testStore.options.schema}`);
    environment = engine === 'sqlite' ? { DATA_DIR: testStore.options.dataDir } : { DATABASE_URL: url.href };
    await makeToken(store, { remainQuota: 100 });
  });
  afterAll(() => testStore.remove());

  test('runs beside the gateway and prints the sums', async () => {
    const { code, out } = await admin(['audit', '--offline'], environment);
    expect([code, out]).toEqual([
      0,
      [
        'keys      1',
        'granted   100',
        'held      0',
        'leased    0',
        'spent     0',
        'refunded  0',
        'left      100',
        'debt      0',
        'open      0',
        'closed    0',
        '',
      ].join('\n'),
    ]);
  });

  test('names the unit that does not balance and exits with 1, also without a gateway', async () => {
    await runStatement(testStore, 'update tokens set remain_quota = 101');
    await store.close();
    const { code, out, error } = await admin(['audit', '--offline', '--json'], environment);
    expect([code, error]).toEqual([1, 'unigate: The ledger does not balance.\n']);
    expect(JSON.parse(out)).toMatchObject({
      problems: [
        { subject: expect.stringMatching(/^key \d+$/), problem: expect.stringContaining('has 101 left') },
      ],
    });
  });
});

test('an audit without a database reports that and exits with 1', async () => {
  const { code, error } = await admin(['audit', '--offline'], { DATA_DIR: '/nowhere' });
  expect([code, error]).toEqual([1, 'unigate: DATA_DIR /nowhere has no database.\n']);
});

test.each([[[]], [['repair']], [['audit', 'more']]])(
  '%j points to the help and exits with 2',
  async (parameters) => {
    const { code, error } = await admin(parameters);
    expect([code, error]).toEqual([
      2,
      expect.stringMatching(/^unigate: .* See npm run admin -- --help\.\n$/),
    ]);
  },
);

test('--help exits with 0', async () => {
  expect(await admin(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('Examples:') });
});
