import type { AssetsTable, Db } from '../schema.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** Finds the assets with these ids that the viewer sees, in no order. */
export async function findAssets(
  db: Db,
  { ids, ...viewer }: { ids: readonly string[] } & Viewer,
): Promise<AssetsTable[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('assets')
    .selectAll()
    .where('id', 'in', ids)
    .where('user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'assets.token_id'))
    .execute();
}

/** Finds the channel of the latest asset for a model that the viewer sees. Undefined without one. */
export async function latestAssetChannel(
  db: Db,
  { model, ...viewer }: { model: string | null } & Viewer,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('assets')
    .select('channel')
    .where('user_id', '=', viewer.userId)
    .where(areSeen(viewer, 'assets.token_id'))
    .where('model', model === null ? 'is' : '=', model)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.channel;
}
