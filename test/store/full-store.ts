import { Ledger } from '../../server/quota/ledger.ts';
import { RollUp } from '../../server/quota/maintenance.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { newTaskRow } from '../quota/task-rows.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import type { TestStore } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';
import { insertRows } from './raw-rows.ts';

const day = 86_400_000;
const now = 1_795_000_000_000;
const owner = { user_id: 2, token_id: 1 };
const times = { created_at: now, updated_at: now };

/** Fills every table of a store that has no gateway: calls of three days, and rows of each kind. The ledger balances. */
export async function fillStore(testStore: TestStore, store: Store): Promise<void> {
  let at = now;
  const ledger = new Ledger(store, 'gone', () => at);
  await store.run('recordHeartbeat', { id: 'gone', heartbeat: 7 });
  const token = await makeToken(store, { remainQuota: 1_000_000 });
  const deleted = await makeToken(store, { unlimitedQuota: true });
  await store.run('deleteToken', { id: deleted.id, userId: deleted.userId, by: null, now });
  for (let call = 1; call <= 30; call += 1) {
    const requestId = `r${call}`;
    at = now - (call % 3) * day;
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
    if (call % 10 > 0)
      await ledger.settle({ requestId, charged: call % 7, log: { ...logEntry, units: 0.1 * call } });
  }
  const change = { userId: 1, tokenId: 1, action: 'refundCall', now };
  const refund = {
    id: 'r1',
    amount: null,
    reason: 'Ünïcode "quotes" \\ and\nlines',
    idempotencyKey: null,
    change,
  };
  await store.run('refundCall', refund);
  const lease = { id: 'lease', grow: false, tokenId: token.id, gateway: 'gone', need: 1, want: 50, now };
  await store.run('grantLease', lease);
  const task = newTaskRow(token, { requestId: 'rt', amount: 20, callbackUrl: 'https://app.example/hook' });
  await store.run('createTask', task);
  await store.run('grantToWallet', {
    userId: token.userId,
    amount: 5_000,
    reason: 'paid',
    reference: 'payment 1',
    change: { ...change, action: 'grantToWallet' },
  });
  await store.run('ensureSecret', { name: 'files', value: 'secret' });
  const prices = { revision: 'revision', prices: '{"*":1}', ratios: '{}', loaded_at: now };
  const rows = {
    clips: {
      id: 'clip',
      task_id: task.id,
      user_id: 2,
      channel: 'one',
      upstream_id: 'u',
      upstream_task_id: 't',
    },
    deliveries: {
      task_id: task.id,
      user_id: 2,
      state: 'completed',
      host: 'app.example',
      changed_at: now,
      tries: 1,
      next_try_at: now,
      attempt: 1,
      lease_owner: 'gone',
    },
    voices: {
      voice_id: 'v',
      ...owner,
      service: 's',
      target_model: 'm',
      channel: 'one',
      status: 'OK',
      name: 'n',
      facts: '{}',
      ...times,
    },
    assets: {
      id: 'a',
      ...owner,
      channel: 'one',
      upstream_id: 'u',
      asset_type: 'Image',
      name: 'n',
      status: 'Active',
      group_id: 'g',
      project_name: 'p',
      url: 'https://files.example/a',
      ...times,
    },
    verification_sessions: {
      session_id: 's',
      ...owner,
      channel: 'one',
      h5_link: 'h',
      callback_url: 'c',
      status: 'pending',
      ...times,
      expires_at: now,
    },
    members: { user_id: 2, name: 'Ünïcode', role: 'developer', created_at: now },
    statements: { user_id: 2, month: '2026-10', content: '{}', closed_at: now },
    task_queue: {
      task_id: task.id,
      user_id: 2,
      pool: 'one',
      channels: '["one"]',
      excluded: '[]',
      request: '{}',
      request_bytes: 2,
      lifetime_ms: day,
      queued_at: now,
      wait_until: now + day,
      not_before: now + day,
    },
    queue_turns: { user_id: 2, served_at: now },
    budgets: {
      user_id: 2,
      token_id: 1,
      amount: 100,
      period: 'daily',
      time_zone: 'UTC',
      hard: 1,
      thresholds: '[50]',
      period_start: now,
      period_end: now + day,
      spent: 1,
      reserved: 0,
      created_at: now,
    },
    callback_endpoints: {
      user_id: 2,
      url: 'https://app.example/events',
      description: 'Ünïcode',
      events: '["quota.low"]',
      quota_threshold: 100,
      secret: 'whsec_AAAA',
      old_secret: 'whsec_BBBB',
      old_secret_until: now,
      created_at: now,
    },
    events: {
      id: 'event',
      kind: 'quota.low',
      user_id: 2,
      token_id: 1,
      subject: 'key 1',
      threshold: 100,
      period: '1',
      data: '{}',
      created_at: now,
    },
    channel_outages: { channel: 'one', gateway: 'gone', since: now, reason: 'server_error' },
    event_scans: { id: 1, scanned_at: now },
    channel_states: { channel: 'one', user_id: 1, reason: 'test', disabled_at: now },
    loaded_prices: { id: 1, ...prices },
    swept_totals: { token_id: token.id, charged: 0, spent: 0, debt: 0 },
  };
  for (const [table, row] of Object.entries(rows)) await insertRows(testStore, table, [row]);
  const parts = { store, logger: createLogger('silent'), clock: () => now, timers: new ManualTimers() };
  await new RollUp(parts).run();
}
