import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { isSeen, type Viewer } from './visibility.ts';

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
  'clips.id',
  'clips.task_id as taskId',
  'clips.channel',
  'clips.upstream_id as upstreamId',
  'clips.upstream_task_id as upstreamTaskId',
] as const;

/** The clips among these ids whose tasks the viewer sees, in no order. */
export async function findClips(
  db: Kysely<Database>,
  { ids, ...viewer }: { ids: readonly string[] } & Viewer,
): Promise<ClipRecord[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('clips')
    .innerJoin('tasks', 'tasks.id', 'clips.task_id')
    .select(columns)
    .where('clips.id', 'in', ids)
    .where('clips.user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'tasks.token_id'))
    .execute();
}
