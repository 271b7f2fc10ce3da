import { type CamelCased, camelCased } from '../columns.ts';
import type { ClipsTable, Db } from '../schema.ts';
import { isSeen, type Viewer } from './visibility.ts';

/** A song or a stem. `upstreamTaskId`: the provider's task that created it. */
export type ClipRecord = Omit<CamelCased<ClipsTable>, 'userId'>;

/** Finds the clips with these ids whose tasks the viewer sees, in no order. */
export async function findClips(
  db: Db,
  { ids, ...viewer }: { ids: readonly string[] } & Viewer,
): Promise<ClipRecord[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('clips')
    .innerJoin('tasks', 'tasks.id', 'clips.task_id')
    .select(camelCased('clips.id, clips.task_id, clips.channel, clips.upstream_id, clips.upstream_task_id'))
    .where('clips.id', 'in', ids)
    .where('clips.user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'tasks.token_id'))
    .execute();
}
