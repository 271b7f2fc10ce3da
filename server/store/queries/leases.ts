import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../schema.ts';
import { type Fragment, statement } from '../statement.ts';

const outdated = statement<{ gateway: string }, { id: string }>()`
  select q.id from quota_leases q join tokens t on t.id = q.token_id
  where q.gateway = ${'gateway'} and q.draining = 0 and q.epoch < t.lease_epoch`;

/** Finds the recalled leases of a gateway. */
export async function findRecalledLeases(db: Db, gateway: string): Promise<string[]> {
  const { rows } = await outdated(db, { gateway });
  return rows.map(({ id }) => id);
}

/** SQL of the quota that moved from a key's leases to tasks and is still in its `leased_quota`. `tokens`: name of the table in the query. */
export function unpostedOf(tokens: string): RawBuilder<number> {
  return sql.raw(unposted(tokens));
}

const unposted = (tokens: string) =>
  `coalesce((select sum(unposted) from quota_leases where token_id = ${tokens}.id), 0)`;

/** SQL of the available quota of a key, including leased quota. */
export function leftOf(tokens: string): RawBuilder<number> {
  return sql.raw(leftFragment(tokens).fragment);
}

/** The same for `statement`. */
export function leftFragment(tokens: string): Fragment {
  return { fragment: `(${tokens}.remain_quota + ${tokens}.leased_quota - ${unposted(tokens)})` };
}

interface Lent {
  /** Balance of the key. */
  remain: number;
  /** Quota that gateways lease. */
  leased: number;
  /** Number of leases of other gateways that can still return quota. */
  unanswered: number;
}

/** Reads where the quota of a key is. Undefined when the key does not exist. */
export async function findLent(db: Db, tokenId: number, gateway: string): Promise<Lent | undefined> {
  const { rows } = await sql<Lent>`
    select t.remain_quota as remain, t.leased_quota - ${unpostedOf('t')} as leased,
      (select count(*) from quota_leases q join gateways g on g.id = q.gateway
        where q.token_id = t.id and q.draining = 0 and q.gateway <> ${gateway}) as unanswered
    from tokens t where t.id = ${tokenId}`.execute(db);
  return rows[0];
}
