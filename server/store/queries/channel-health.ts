import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** A cool-down of another gateway. */
export interface OtherCoolDown {
  channel: string;
  gateway: string;
  /** By the database's clock. */
  resting_until: number;
  /** Milliseconds until its end. */
  ms: number;
  /** The kind of failure that started it. */
  reason: string;
}

/** Reads the cool-downs of the other gateways. PostgreSQL only. */
export async function otherCoolDowns(db: Db, gateway: string): Promise<OtherCoolDown[]> {
  const { rows } = await sql<OtherCoolDown>`
    select channel, gateway, reason, resting_until, resting_until - extract(epoch from clock_timestamp())::float8 * 1000 as ms
    from channel_health
    where gateway <> ${gateway} and gateway in (select id from gateways)
      and resting_until > extract(epoch from clock_timestamp()) * 1000`.execute(db);
  return rows;
}
