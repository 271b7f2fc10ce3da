import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { databaseUrl, engines, onServer, TestStore } from '../store/engines.ts';
import { expectBalanced, logRows, makeToken } from '../store/ledger.ts';
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

  test('charge every acknowledged call once when they are killed', { timeout: 120_000 }, async () => {
    const before = await testStore.open();
    const token = await makeToken(before, { remainQuota: 1_000_000_000 });
    const poor = await makeToken(before, { remainQuota: 500 });
    if (engine === 'sqlite') await before.close();
    const name = testStore.options.schema ?? '';
    const url = `${databaseUrl}?application_name=${name}`;
    const options = { ...testStore.options, ...(engine === 'postgres' ? { databaseUrl: url } : {}) };
    const keys = {
      token: { id: token.id, userId: token.userId },
      poor: { id: poor.id, userId: poor.userId },
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
  });
});
