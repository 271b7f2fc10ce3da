import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../server/store/open-store.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { compiled, endsWithParent } from '../support/child-node.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { balanceOf, expectBalanced, ledgerRows, logRows, reservationRows } from './ledger.ts';

const childFile = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const acknowledgements = 1_000;

describe.each(engines)('a gateway killed in mid-work on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
  });
  afterEach(() => testStore.remove());

  /** Runs the child until it has acknowledged enough commands, kills it, and returns its lines split into words. */
  async function runAndKill(): Promise<string[][]> {
    const name = testStore.options.schema ?? '';
    const url = `${databaseUrl}?application_name=${name}`;
    const options = { ...testStore.options, ...(engine === 'postgres' ? { databaseUrl: url } : {}) };
    const child = spawn(process.execPath, [...endsWithParent, childFile, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...compiled },
    });
    const exited = once(child, 'exit');
    const lines: string[][] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line.split(' '));
      if (engine === 'sqlite' && lines.length === 2) {
        await expect(openStore(testStore.options)).rejects.toThrow('in use by another gateway');
      }
      if (lines.length === acknowledgements) child.kill('SIGKILL');
    }
    expect(await exited).toEqual([null, 'SIGKILL']);
    // The server detects a lost client a little later, and may still commit statements that it received.
    const sessions = 'select 1 from pg_stat_activity where application_name = $1';
    const gone = async () =>
      expect((await onServer((client) => client.query(sessions, [name]))).rows).toEqual([]);
    if (engine === 'postgres') await vi.waitFor(gone, { timeout: 10_000 });
    return lines;
  }

  test('has run every acknowledged command once, and the ledger balances', { timeout: 60_000 }, async () => {
    const lines = await runAndKill();
    expect(lines.length).toBeGreaterThanOrEqual(acknowledgements);
    const store = await testStore.open();
    const rows = new Map((await reservationRows(store)).map((row) => [row.request_id, row]));
    const logged = (await logRows(store)).map((row) => row.request_id);
    for (const [what, requestId = '', charged] of lines.slice(1)) {
      const row = rows.get(requestId);
      if (what === 'reserved') expect(row).toMatchObject({ reserved: 10 });
      else expect(row).toMatchObject({ state: what, charged: what === 'settled' ? Number(charged) : null });
    }
    const closed = [...rows.values()].filter((row) => row.state !== 'open').map((row) => row.request_id);
    expect(logged.sort()).toEqual(closed.sort());

    const token = {
      id: Number(lines[0]?.[1]),
      unlimitedQuota: false,
      remainQuota: 1_000_000_000,
    } as TokenRecord;
    await expectBalanced(store, token);
    const open = (await ledgerRows(store)).length;
    expect(open).toBe(rows.size - closed.length);
    expect(open).toBeGreaterThan(0);
    await store.run('removeGateway', { id: 'child', heartbeat: 0 });
    expect(await store.run('releaseOrphans', { now: 1, dueNow: 1 })).toMatchObject({ reservations: open });
    const spent = [...rows.values()].reduce((total, row) => total + (row.charged ?? 0), 0);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 1_000_000_000 - spent, used_quota: spent });
  });
});
