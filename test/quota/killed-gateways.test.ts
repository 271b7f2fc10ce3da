import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { walletRecord } from '../../server/store/queries/wallets.ts';
import type { Store } from '../../server/store/store.ts';
import { databaseUrl, engines, onServer, TestStore } from '../store/engines.ts';
import { expectBalanced, logRows, makeAccount, makeToken } from '../store/ledger.ts';
import { compiled, endsWithParent } from '../support/child-node.ts';
import type { LeasedChild } from './leased-child.ts';
import { chargedLater, endTask } from './task-rows.ts';

const childFile = fileURLToPath(new URL('./leased-child.ts', import.meta.url));

/** A gateway in a process of its own, with the charges that it acknowledged. */
class Child {
  readonly charged = new Map<string, number>();
  readonly exited: Promise<unknown[]>;
  readonly #process: ChildProcess;
  readonly #lines: Promise<void>;

  constructor(start: LeasedChild) {
    const child = spawn(process.execPath, [...endsWithParent, childFile, JSON.stringify(start)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...compiled },
    });
    this.#process = child;
    this.exited = once(child, 'exit');
    this.#lines = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        const [requestId, charged] = JSON.parse(line) as [string, number];
        this.charged.set(requestId, charged);
      }
    })();
  }

  async more(count: number): Promise<void> {
    const enough = this.charged.size + count;
    await vi.waitFor(() => expect(this.charged.size).toBeGreaterThanOrEqual(enough), {
      timeout: 60_000,
      interval: 5,
    });
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#process.kill(signal);
    expect(await this.exited).toEqual(signal === 'SIGTERM' ? [0, null] : [null, signal]);
    await this.#lines;
  }
}

describe.each(engines)('gateways that lease quota on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
  });
  afterEach(() => testStore.remove());

  test.each([
    ['keys', false],
    ['the wallets of customers for keys of their sub-accounts', true],
  ])(
    'charge %s for every acknowledged call once when they are killed',
    { timeout: 120_000 },
    async (_, account) => {
      const before = await testStore.open();
      const quotas = { token: 1_000_000_000, poor: 500 };
      const rich = account ? await makeCustomer(before, quotas.token) : undefined;
      const debtor = account ? await makeCustomer(before, quotas.poor) : undefined;
      const token = await makeToken(before, { ...rich?.account, remainQuota: quotas.token });
      const limit = account ? { unlimitedQuota: true } : { remainQuota: quotas.poor };
      const poor = await makeToken(before, { ...debtor?.account, ...limit });
      if (engine === 'sqlite') await before.close();
      const name = testStore.options.schema ?? '';
      const url = `${databaseUrl}?application_name=${name}`;
      const options = { ...testStore.options, ...(engine === 'postgres' ? { databaseUrl: url } : {}) };
      const keys = {
        token: { id: token.id, userId: token.userId },
        poor: { id: poor.id, userId: poor.userId, ...(debtor && { walletId: debtor.userId }) },
      };
      const start = (id: string) => new Child({ options, id, ...keys });
      const children: Child[] = [];
      const rounds = engine === 'postgres' ? 2 : 3;
      // On PostgreSQL, two gateways keep running beside the killed one.
      const steady = engine === 'postgres' ? [start('steady 1'), start('steady 2')] : [];
      for (let round = 0; round < rounds; round += 1) {
        const killed = start(`killed ${round}`);
        children.push(killed);
        await killed.more(150);
        await killed.end('SIGKILL');
        for (const one of steady) await one.more(50);
      }
      for (const one of steady) await one.end('SIGTERM');
      if (engine === 'postgres') {
        // The server notices a lost client later, and may still commit its last statements.
        const sessions = 'select 1 from pg_stat_activity where application_name = $1';
        const gone = async () =>
          expect((await onServer((client) => client.query(sessions, [name]))).rows).toEqual([]);
        await vi.waitFor(gone, { timeout: 10_000 });
      }
      const store = engine === 'sqlite' ? await testStore.open() : before;
      await store.run('recordHeartbeat', { id: 'after', heartbeat: 0, alone: true });
      await store.run('releaseOrphans', { now: 1, dueNow: 1 });
      const audit = await store.report('auditLedger', null);
      const tasks = store.read.selectFrom('tasks').select('id').where('completed_at', 'is', null);
      const open = await tasks.execute();
      expect(audit).toMatchObject({ problems: [], held: 10 * open.length, leased: 0 });
      expect(open.length).toBeGreaterThan(20);
      // Any gateway can end a task, whatever lease its quota came from.
      for (const { id } of open) expect(await endTask(store, id, chargedLater)).toBe(true);

      const entries = new Map((await logRows(store)).map((row) => [row.request_id, row]));
      for (const { charged } of [...children, ...steady])
        for (const [requestId, cost] of charged) {
          const { quota = 0, debt = 0 } = entries.get(requestId) ?? {};
          expect(quota + debt, requestId).toBe(cost);
        }
      const owed = [...entries.values()].filter(({ debt }) => debt > 0);
      expect(owed.length).toBeGreaterThan(5);
      expect(new Set(owed.map(({ token_id: id }) => id))).toEqual(new Set([poor.id]));
      expect(entries.size).toBeGreaterThan(300);
      expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], held: 0, leased: 0 });
      await expectBalanced(store, token);
      for (const [key, customer] of [
        [token, rich],
        [poor, debtor],
      ] as const)
        if (customer !== undefined) await expectWallet(store, key, customer.userId);
    },
  );
});

/** Creates a user with a wallet, and a sub-account. `account`: the owner of a key of the sub-account. */
async function makeCustomer(store: Store, amount: number) {
  const { id: userId } = await store.run('createUser', { name: 'customer', group: 'default', now: 1 });
  const change = { userId: 1, tokenId: 1, action: 'grantToWallet', now: 1 };
  await store.run('grantToWallet', {
    userId,
    amount,
    reason: 'paid',
    reference: `payment ${userId}`,
    change,
  });
  return { userId, account: { userId: await makeAccount(store, userId) } };
}

/** Checks that a wallet paid exactly for the calls and tasks of a key, and that nothing is reserved. */
async function expectWallet(store: Store, { id }: TokenRecord, userId: number): Promise<void> {
  const entries = (await logRows(store)).filter((row) => row.token_id === id);
  const granted = await store.read
    .selectFrom('wallet_grants')
    .select('amount')
    .where('user_id', '=', userId)
    .execute();
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const { balance, used, debt, reserved } = await walletRecord(store.read, userId);
  expect(reserved).toBe(0);
  expect(balance + used).toBe(sum(granted.map(({ amount }) => amount)));
  // A grant settles debts first, so that they count as used.
  expect(used + debt).toBe(sum(entries.map((row) => row.quota + row.debt)));
}
