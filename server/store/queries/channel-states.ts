import { sql } from 'kysely';
import type { ChannelStatesTable, Db } from '../schema.ts';

export type ChannelState = ChannelStatesTable & { user_name: string };

/** Returns the disabled channels, each with the name of the admin who disabled it. */
export function disabledChannels(db: Db): Promise<ChannelState[]> {
  return db
    .selectFrom('channel_states as s')
    .leftJoin('users as u', 'u.id', 's.user_id')
    .selectAll('s')
    .select((column) => column.fn.coalesce('u.name', sql<string>`''`).as('user_name'))
    .execute();
}
