import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** A channel of a gateway that is in a cool-down. */
interface RestingChannel {
  channel: string;
  /** Milliseconds until its end. */
  ms: number;
  /** The kind of failure that started it. */
  reason: string;
}

/** Replaces the cool-downs of a gateway, and deletes those of lost gateways. PostgreSQL only. */
export async function shareChannelHealth(
  trx: Db,
  { gateway, resting }: { gateway: string; resting: readonly RestingChannel[] },
): Promise<void> {
  const rows = sql`json_to_recordset(${JSON.stringify(resting)}::json) as r(channel text, ms float8, reason text)`;
  await sql`
    delete from channel_health where gateway not in (select id from gateways)
      or (gateway = ${gateway} and channel not in (select channel from ${rows}))`.execute(trx);
  await sql`
    insert into channel_health (channel, gateway, resting_until, reason)
    select channel, ${gateway}, extract(epoch from clock_timestamp()) * 1000 + ms, reason from ${rows} order by channel
    on conflict (channel, gateway) do update set resting_until = excluded.resting_until, reason = excluded.reason`.execute(
    trx,
  );
}
