import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../server/quota/ledger.ts';
import { dayOf } from '../../server/store/log-days.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { newTaskRow } from '../quota/task-rows.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

const day = 86_400_000;
const now = 1_795_000_000_000;
const change = { userId: 1, tokenId: 1, now };

/** `LIMITED` and `PAID` in a statement are the ids of a key with a limit and of a key that draws from a wallet. */
const faults: readonly [statement: string, problem: RegExp][] = [
  ['update refunds set charged = charged + 1', /^request r1: refunded 2 of 5, and the log has 4 of key/],
  [
    "update request_log set quota = 1 where request_id = 'r1'",
    /^request r1: refunded 2 of 4, and the log has 1/,
  ],
  ['update refunds set token_id = PAID', /^request r1: refunded 2 of 4, and the log has 4 of key LIMITED/],
  ['update refunds set unlimited = 1', /^request r1: refunded 2 of 4/],
  ['update refunds set token_id = 999', /^request r1: refunded to key 999, which does not exist/],
  [
    "update quota_leases set token_id = 999 where id = 'limited'",
    /^lease limited: of key 999, which does not exist/,
  ],
  [
    "update quota_leases set unposted = 1 where id = 'limited'",
    /^lease limited: of key LIMITED, with 100 of 100/,
  ],
  [
    "update quota_leases set remaining = 99 where id = 'limited'",
    /^key LIMITED: has leased 100, and its leases have 99/,
  ],
  [
    "update quota_leases set wallet_id = null where id = 'paid'",
    /^lease paid: is not of the wallet of its user/,
  ],
  ['update tokens set leased_quota = leased_quota + 1 where id = LIMITED', /^key LIMITED: has leased 101/],
  ['update tokens set remain_quota = -1 where id = LIMITED', /^key LIMITED: has a balance below zero: -1/],
  ['update tokens set wallet_id = user_id where id = LIMITED', /^key LIMITED: is of a user without a wallet/],
  ['delete from wallets', /^key PAID: is of a user without a wallet/],
  ['update wallet_grants set debt_settled = 1', /^wallet of user \d+: has \d+ left.*debts settled 2/],
  ["delete from ledger where request_id = 't1'", /^request t1: no quota is reserved for a task in progress/],
  ['delete from tasks', /^request t1: quota is reserved for a finished task/],
  ['update swept_totals set spent = spent + 1', /^key LIMITED: has \d+ left, which should be/],
  [
    'update log_counts set token_id = 999 where token_id = LIMITED',
    /^key 999: the log has 0 entries of it and counts 1/,
  ],
  ['delete from log_counts', /^key LIMITED: the log has 1 entries of it and counts 0/],
  [
    "insert into grants (token_id, amount, kind, other_id, created_at) values (LIMITED, 1, 'moved', PAID, 1)",
    /its moves/,
  ],
];

describe.each(engines)('the ledger audit on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      ({ testStore, store, ledger } = made);
    },
  );

  const problems = async () => {
    const { problems: found } = await store.report('auditLedger', null);
    return found.map(({ subject, problem }) => `${subject}: ${problem}`);
  };
  const spend = async (token: TokenRecord, requestId: string) => {
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
    await ledger.settle({ requestId, charged: 4, log: logEntry });
  };
  const lease = (id: string, token: TokenRecord) =>
    store.run('grantLease', { id, grow: false, tokenId: token.id, gateway: 'here', need: 1, want: 100, now });

  /** Creates rows of every kind: calls, a refund, a task in progress, leases, a wallet and swept entries. */
  async function fill() {
    const limited = await makeToken(store, { remainQuota: 1_000 });
    await spend(limited, 'swept');
    await store.run('sweepLog', { closedBefore: now + day, limit: 9 });
    await spend(limited, 'r1');
    const refund = { id: 'r1', amount: 2, reason: 'noise', idempotencyKey: null };
    await store.run('refundCall', { ...refund, change: { ...change, action: 'refundCall' } });
    await store.run('createTask', newTaskRow(limited, { requestId: 't1', amount: 5 }));
    await lease('limited', limited);
    const paid = await makeToken(store, { unlimitedQuota: true });
    const grant = { userId: paid.userId, amount: 1_000, reason: 'paid', reference: 'payment' };
    await store.run('grantToWallet', { ...grant, change: { ...change, action: 'grantToWallet' } });
    await spend(paid, 'w1');
    await lease('paid', paid);
    expect(await problems()).toEqual([]);
    return { LIMITED: limited.id, PAID: paid.id };
  }

  test.each(faults)('finds what was changed by hand: %s', async (statement, problem) => {
    const ids = Object.entries(await fill());
    const insertIds = (text: string) =>
      ids.reduce((all, [name, id]) => all.replaceAll(name, String(id)), text);
    await runStatement(testStore, insertIds(statement));
    const found = await problems();
    const wanted = new RegExp(insertIds(problem.source));
    expect(
      found.filter((one) => wanted.test(one)),
      found.join('\n'),
    ).not.toEqual([]);
  });

  test('finds an entry that was written twice, also on different days', async () => {
    await fill();
    const columns = `request_id, user_id, token_id, token_name, model_name, operation, channel, status, unit, units,
      prompt_tokens, completion_tokens, quota, debt, reserved, unlimited, duration_ms, state, group_ratio,
      group_name, config_revision`;
    const copyInto = (more: string, values: string) =>
      runStatement(
        testStore,
        `insert into request_log (${columns}${more}) select ${columns}${values} from request_log where request_id = 'r1'`,
      );
    if (engine === 'sqlite') {
      await expect(copyInto(', created_at', ', created_at')).rejects.toThrow('UNIQUE constraint failed');
      return;
    }
    const today = dayOf(now);
    await expect(copyInto(', created_at, day', ', created_at, day')).rejects.toThrow(
      'violates unique constraint',
    );
    await store.run('addLogDays', { first: today + 1, last: today + 2 });
    await copyInto(', created_at, day', `, created_at + 86400, ${today + 1}`);
    expect(await problems()).toContain('request r1: the log has 2 entries of it');
  });
});
