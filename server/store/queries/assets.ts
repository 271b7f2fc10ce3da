import type { Kysely } from 'kysely';
import type { AssetsTable, Database } from '../schema.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** The assets among these ids that the viewer sees, in no order. */
export async function findAssets(
  db: Kysely<Database>,
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

/** The channel of the latest asset for that model that the viewer sees; undefined before the first. */
export async function latestAssetChannel(
  db: Kysely<Database>,
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
