import { systemTimers } from '../../server/lib/timers.ts';
import { CallQuota } from '../../server/quota/call-quota.ts';
import { Heartbeat } from '../../server/quota/heartbeat.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import { openStore } from '../../server/store/open-store.ts';
import { LeasedTaskWriter } from '../../server/tasks/task-creation.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { logEntry } from '../store/ledger.ts';
import { chargedLater, endTask, makeTask } from './task-rows.ts';

/** Arguments of a gateway in a process of its own. */
export interface LeasedChild {
  options: Parameters<typeof openStore>[0];
  id: string;
  token: { id: number; userId: number };
  /** A key whose calls exceed its quota, and that gets grants. `walletId`: the user whose wallet gets them instead. */
  poor: { id: number; userId: number; walletId?: number };
}

// Makes calls and tasks until it is killed or terminated, and prints one line for each acknowledged settlement.
const { options, id, token, poor } = JSON.parse(process.argv[2] ?? '') as LeasedChild;
const store = await openStore(options);
const parts = { store, logger: createLogger('silent'), timers: systemTimers, clock: Date.now };
const heartbeat = new Heartbeat({ ...parts, id, intervalMs: 100 });
await heartbeat.start();
const ledger = new Ledger(store, id);
const calls = new CallQuota({ ...parts, gateway: id, membership: heartbeat, ledger });
calls.start();

const writer = new LeasedTaskWriter(store);

/** Creates a task and ends it if `isEnded`. Returns its cost, or undefined without quota. */
async function runTask(requestId: string, isEnded: boolean, charged: number): Promise<number | undefined> {
  const made = await makeTask({ store, calls, writer }, token, { requestId, amount: 10 });
  if (made.outcome !== 'created') return undefined;
  if (!isEnded) return chargedLater;
  await endTask(store, made.task.id, charged === 0 ? null : charged);
  return charged;
}

let ending = false;
let requests = 0;
async function customer(): Promise<void> {
  while (!ending) {
    requests += 1;
    const requestId = `${id} ${requests}`;
    const fails = requests % 3 === 0;
    const charged = fails ? 0 : requests % 11;
    if (requests % 4 === 1) {
      const cost = await runTask(requestId, requests % 8 === 1, charged);
      if (cost === undefined) break;
      process.stdout.write(`${JSON.stringify([requestId, cost])}\n`);
      continue;
    }
    const request = { requestId, token, model: 'm', unit: 'characters' as const, amount: 10 };
    if ((await calls.reserve(request)) !== 'reserved') break;
    if (fails) await calls.refund({ requestId, log: { ...logEntry, errorCode: 'e' } });
    else await calls.settle({ requestId, charged, log: logEntry });
    process.stdout.write(`${JSON.stringify([requestId, charged])}\n`);
  }
}

/** Makes calls that cost up to three times their reservation, and grants quota when none is left. */
async function overspend(): Promise<void> {
  const change = { userId: 1, tokenId: 1, action: 'grantQuota', now: 1 };
  while (!ending) {
    requests += 1;
    const requestId = `${id} ${requests}`;
    const request = { requestId, token: poor, model: 'm', unit: 'characters' as const, amount: 10 };
    if ((await calls.reserve(request)) !== 'reserved') {
      const { walletId } = poor;
      const grant = { amount: 23, reason: 'more', change };
      if (walletId === undefined)
        await store.run('grantQuota', { ...grant, tokenId: poor.id, idempotencyKey: requestId });
      else await store.run('grantToWallet', { ...grant, userId: walletId, reference: requestId });
      continue;
    }
    const cost = 10 + (requests % 20);
    await calls.settle({ requestId, charged: cost, log: logEntry });
    process.stdout.write(`${JSON.stringify([requestId, cost])}\n`);
  }
}

process.once('SIGTERM', () => {
  ending = true;
});
await Promise.all([...Array.from({ length: 12 }, customer), overspend(), overspend(), overspend()]);
await calls.stop();
await heartbeat.stop();
await store.close();
