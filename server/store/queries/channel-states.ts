import { type Kysely, sql } from 'kysely';
import type { ChannelStatesTable, Database } from '../schema.ts';

export type ChannelState = ChannelStatesTable & { user_name: string };

/** Every channel that is taken out, with the name of who did it. */
export function disabledChannels(db: Kysely<Database>): Promise<ChannelState[]> {
  return db
    .selectFrom('channel_states as s')
    .leftJoin('users as u', 'u.id', 's.user_id')
    .select((column) => column.fn.coalesce('u.name', sql<string>`''`).as('user_name'))
    .select(['s.channel', 's.user_id', 's.reason', 's.disabled_at'])
    .execute();
}
