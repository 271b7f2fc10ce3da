import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/** A song or a stem. */
export interface ClipRecord {
  /** The public id. */
  id: string;
  taskId: string;
  channel: string;
  /** Never shown to clients, as the next. */
  upstreamId: string;
  /** The upstream task that made it. */
  upstreamTaskId: string;
}

const columns = [
  'id',
  'task_id as taskId',
  'channel',
  'upstream_id as upstreamId',
  'upstream_task_id as upstreamTaskId',
] as const;

/** A user's own clips among these ids, in no order. */
export async function findClips(
  db: Kysely<Database>,
  { ids, userId }: { ids: readonly string[]; userId: number },
): Promise<ClipRecord[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('clips')
    .select(columns)
    .where('id', 'in', ids)
    .where('user_id', '=', userId)
    .execute();
}
