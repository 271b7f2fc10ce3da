import type { Kysely } from 'kysely';
import type { AssetsTable, Database } from '../schema.ts';

/** A user's own assets among these ids, in no order. */
export async function findAssets(
  db: Kysely<Database>,
  { ids, userId }: { ids: readonly string[]; userId: number },
): Promise<AssetsTable[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('assets').selectAll().where('id', 'in', ids).where('user_id', '=', userId).execute();
}

/** The channel of a user's latest asset for that model; undefined before the first. */
export async function latestAssetChannel(
  db: Kysely<Database>,
  { userId, model }: { userId: number; model: string | null },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('assets')
    .select('channel')
    .where('user_id', '=', userId)
    .where('model', model === null ? 'is' : '=', model)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.channel;
}
