import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { type Fragment, statement } from '../statement.ts';

const outdated = statement<{ gateway: string }, { id: string }>()`
  select q.id from quota_leases q join tokens t on t.id = q.token_id
  where q.gateway = ${'gateway'} and q.draining = 0 and q.epoch < t.lease_epoch`;

/** The leases of a gateway that it is to give back. */
export async function findRecalledLeases(db: Kysely<Database>, gateway: string): Promise<string[]> {
  const { rows } = await outdated(db, { gateway });
  return rows.map(({ id }) => id);
}

/**
 * What has left a key's leases for tasks, and is still in its `leased_quota`, which creations do not wait for. `tokens` is what
 * the table of keys is called there.
 */
export function unpostedOf(tokens: string): RawBuilder<number> {
  return sql.raw(unposted(tokens));
}

const unposted = (tokens: string) =>
  `coalesce((select sum(unposted) from quota_leases where token_id = ${tokens}.id), 0)`;

/** What a key has left, with what gateways have of it. */
export function leftOf(tokens: string): RawBuilder<number> {
  return sql.raw(leftIn(tokens).fragment);
}

/** The same for a statement whose text is made once. */
export function leftIn(tokens: string): Fragment {
  return { fragment: `(${tokens}.remain_quota + ${tokens}.leased_quota - ${unposted(tokens)})` };
}

export interface Lent {
  /** What the key's balance has. */
  remain: number;
  /** What gateways have beside it. */
  leased: number;
  /** Leases of other gateways at work that could still give something back. */
  unanswered: number;
}

/** Where the quota of a key is, as a gateway sees it; undefined: there is no such key. */
export async function findLent(
  db: Kysely<Database>,
  tokenId: number,
  gateway: string,
): Promise<Lent | undefined> {
  const { rows } = await sql<Lent>`
    select t.remain_quota as remain, t.leased_quota - ${unpostedOf('t')} as leased,
      (select count(*) from quota_leases q join gateways g on g.id = q.gateway
        where q.token_id = t.id and q.draining = 0 and q.gateway <> ${gateway}) as unanswered
    from tokens t where t.id = ${tokenId}`.execute(db);
  return rows[0];
}
