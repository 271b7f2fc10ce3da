import type { CallQuota } from '../../server/quota/call-quota.ts';
import type { NewTask, NewTaskResult } from '../../server/store/commands/new-tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { type LeasedTaskWriter, leaseDrawOf } from '../../server/tasks/task-creation.ts';

const now = 1_795_000_000_000;

/** Cost of a task that a killed gateway left open. */
export const chargedLater = 3;

/** A price of 1 for each unit. */
export const taskPrice = { unitPrice: 1, groupRatio: 1, group: 'default', configRevision: 'revision' };

/** Returns a task that is named after its request and never polled. */
export function newTaskRow(
  token: { id: number; userId: number },
  change: Partial<NewTask> & Pick<NewTask, 'requestId' | 'amount'>,
): NewTask {
  return {
    id: `task of ${change.requestId}`,
    userId: token.userId,
    tokenId: token.id,
    operation: 'createVideo',
    format: 'videos',
    driver: 'scripted',
    model: 'gamma3.0-video',
    unit: 'seconds',
    channel: 'one',
    facts: '{"seconds":"5"}',
    serviceTier: null,
    expectedUnits: change.amount,
    ...taskPrice,
    callbackUrl: null,
    idempotencyKey: null,
    fingerprint: null,
    askedAt: 1,
    deadlineAt: now,
    pollInterval: 1_000,
    leaseOwner: 'a gateway',
    leaseUntil: now,
    now,
    ...change,
  };
}

/** Creates a task like the submitter: from a lease, or else from the key's balance. */
export async function makeTask(
  by: { store: Store; calls: CallQuota; writer: LeasedTaskWriter },
  token: { id: number; userId: number },
  change: Partial<NewTask> & Pick<NewTask, 'requestId' | 'amount'>,
): Promise<NewTaskResult> {
  const row = newTaskRow(token, change);
  const create = (lease: string) => by.writer.add({ ...row, lease });
  const made = await by.calls.withLease(token.id, row.amount, create, leaseDrawOf);
  if (made !== undefined && made.outcome !== 'no_lease' && made.outcome !== 'duplicate') return made;
  return by.calls.withReclaim(
    token.id,
    row.amount,
    () => by.store.run('createTask', row),
    ({ outcome }) => outcome === 'insufficient_quota',
  );
}

/** Ends a task like the gateway that polls it. `charged` null: it failed. */
export async function endTask(store: Store, id: string, charged: number | null, at = now): Promise<boolean> {
  const ended = await store.run('finishTask', {
    id,
    attempt: null,
    result: null,
    error: charged === null ? { code: 'e', message: 'm' } : null,
    charge: charged === null ? null : { quota: charged, units: 1, inputTokens: 0, outputTokens: 0 },
    expiresAt: at,
    now: at,
    dueNow: 1,
  });
  return ended?.booked !== undefined;
}

/** Drops a task that no provider accepted, with its latest claim. */
export async function dropTask(store: Store, id: string): Promise<boolean> {
  const { attempt } = await store.read
    .selectFrom('tasks')
    .select('attempt')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return store.run('dropTask', { id, attempt, channel: 'one', status: 503, errorCode: 'e', now });
}
