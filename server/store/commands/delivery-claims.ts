import { SlotAllocator } from '../../lib/slot-allocator.ts';
import { camelCased } from '../columns.ts';
import type { Db } from '../schema.ts';
import { isPostgres, statement } from '../statement.ts';
import type { DeliveryRecord } from './deliveries.ts';

export interface DeliveryClaim {
  owner: string;
  now: number;
  /** When the owner claims unfinished deliveries again. For other gateways the claim has no end. */
  until: number;
  limits: DeliveryLimits;
  /** Receivers of the owner's current tries. */
  running: readonly Receiver[];
}

/** Largest numbers of concurrent tries. */
export interface DeliveryLimits {
  total: number;
  /** To the addresses of one user. */
  perUser: number;
  /** To one host. One user gets about half of them. */
  perHost: number;
}

type Receiver = Pick<DeliveryRecord, 'userId' | 'host'>;

/** Claims due deliveries, first those of users with the fewest current tries. `nextDueAt`: when to claim again, unless a try ends before. */
export async function claimDeliveries(
  trx: Db,
  claim: DeliveryClaim,
): Promise<{ deliveries: DeliveryRecord[]; nextDueAt: number | null }> {
  const { owner, now, limits, running } = claim;
  const first = await earliest(trx, { after: 0, owner });
  const firstDueAt = first.rows[0]?.due ?? null;
  if (firstDueAt === null || firstDueAt > now) return { deliveries: [], nextDueAt: firstDueAt };
  const slots = new DeliverySlots(limits, running);
  const { rows } = await dueUsers(trx, { owner, now });
  const users = rows.toSorted(
    (left, right) =>
      slots.users.heldBy(left.userId) - slots.users.heldBy(right.userId) || left.due - right.due,
  );
  const deliveries: DeliveryRecord[] = [];
  const waiting: number[] = [];
  for (const [index, { userId }] of users.entries()) {
    const share = Math.ceil(slots.users.free / (users.length - index));
    const claimed = await claimForUser(trx, claim, userId, share, slots);
    deliveries.push(...claimed.deliveries);
    if (claimed.hasMore) waiting.push(userId);
  }
  // Other users used less than their share.
  if (waiting.some((userId) => slots.users.available(userId) > 0)) return { deliveries, nextDueAt: now };
  const next = await earliest(trx, { after: now, owner });
  return { deliveries, nextDueAt: next.rows[0]?.due ?? null };
}

const earliest = statement<{ after: number; owner: string }, { due: number | null }>()`
  select min(next_try_at) as due from deliveries where next_try_at > ${'after'}
    and (lease_owner is null or lease_owner = ${'owner'})`;

/** Users with due deliveries, and their earliest due time. Reads two index entries for each user with open deliveries. */
const dueUsers = statement<{ owner: string; now: number }, { userId: number; due: number }>()`
  with recursive users (id) as (
    select min(user_id) from deliveries where next_try_at is not null
    union all
    select (select min(user_id) from deliveries where next_try_at is not null and user_id > users.id)
    from users where users.id is not null
  )
  select id as "userId", due from (
    select id, (
      select min(next_try_at) from deliveries where next_try_at is not null and user_id = users.id
        and (lease_owner is null or lease_owner = ${'owner'})
    ) as due from users where id is not null
  ) as open where due <= ${'now'}`;

/** The slots of one gateway while a claim assigns them. */
class DeliverySlots {
  readonly users: SlotAllocator;
  readonly #hosts = new Map<string, SlotAllocator>();
  readonly #perHost: number;

  constructor({ total, perUser, perHost }: DeliveryLimits, running: readonly Receiver[]) {
    this.users = new SlotAllocator({ free: total, maxPerUser: perUser });
    this.#perHost = perHost;
    for (const receiver of running) this.#acquire(receiver);
  }

  /** Hosts for which the user has no free slot. */
  fullHosts(userId: number): string[] {
    return [...this.#hosts].filter(([, host]) => host.available(userId) === 0).map(([name]) => name);
  }

  /** False if the user has no free slot for the host, or none at all. */
  tryAcquire(receiver: Receiver): boolean {
    const { userId, host } = receiver;
    if (this.users.available(userId) === 0 || this.#host(host).available(userId) === 0) return false;
    this.#acquire(receiver);
    return true;
  }

  #acquire({ userId, host }: Receiver): void {
    this.users.acquire(userId);
    this.#host(host).acquire(userId);
  }

  #host(name: string): SlotAllocator {
    return this.#hosts.getOrInsertComputed(name, () => new SlotAllocator({ free: this.#perHost }));
  }
}

/** Claims up to `share` deliveries of a user. `hasMore`: more may be due than the share. */
async function claimForUser(
  trx: Db,
  claim: DeliveryClaim,
  userId: number,
  share: number,
  slots: DeliverySlots,
): Promise<{ deliveries: DeliveryRecord[]; hasMore: boolean }> {
  const deliveries: DeliveryRecord[] = [];
  for (;;) {
    const limit = Math.min(share - deliveries.length, slots.users.available(userId));
    if (limit <= 0) return { deliveries, hasMore: true };
    const due = await findDue(trx, claim, userId, slots.fullHosts(userId), limit);
    const ids = due.filter((one) => slots.tryAcquire(one)).map(({ id }) => id);
    if (ids.length > 0) deliveries.push(...(await lease(trx, claim, ids)));
    // The next search excludes hosts without free slots.
    if (due.length < limit) return { deliveries, hasMore: false };
  }
}

/** The user's longest due deliveries. PostgreSQL locks them. */
function findDue(
  trx: Db,
  { owner, now }: DeliveryClaim,
  userId: number,
  fullHosts: readonly string[],
  limit: number,
): Promise<{ id: number; userId: number; host: string }[]> {
  return trx
    .selectFrom('deliveries')
    .select(['id', 'user_id as userId', 'host'])
    .where('user_id', '=', userId)
    .where('next_try_at', '<=', now)
    .where(({ eb, or }) => or([eb('lease_owner', 'is', null), eb('lease_owner', '=', owner)]))
    .$if(fullHosts.length > 0, (query) => query.where('host', 'not in', fullHosts))
    .orderBy('next_try_at')
    .limit(limit)
    .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked())
    .execute();
}

function lease(trx: Db, { owner, until }: DeliveryClaim, ids: readonly number[]): Promise<DeliveryRecord[]> {
  return trx
    .updateTable('deliveries')
    .set(({ eb }) => ({ lease_owner: owner, next_try_at: until, attempt: eb('attempt', '+', 1) }))
    .where('id', 'in', ids)
    .returning(
      camelCased('id, user_id, task_id, state, event_id, endpoint_id, host, changed_at, tries, attempt'),
    )
    .execute();
}
