import { sql } from 'kysely';
import { snakeCased } from '../columns.ts';
import type { AssetsTable, Db } from '../schema.ts';
import { affectsRow } from '../statement.ts';

export interface NewAsset {
  id: string;
  userId: number;
  /** The key that creates it. */
  tokenId: number;
  channel: string;
  upstreamId: string;
  model: string | null;
  assetType: AssetsTable['asset_type'];
  name: string;
  /** The group of a user without assets. */
  groupId: string;
  /** The group of a verified person, if the asset is added to it. */
  intoGroup?: string | undefined;
  now: number;
}

/** Inserts an asset into its user's group. False when the id exists already, for any user. */
export async function saveAsset(trx: Db, { groupId, intoGroup, now, ...asset }: NewAsset): Promise<boolean> {
  // The update changes nothing. It locks the row, so that the first two uploads of a user get the same group.
  await sql`update users set name = name where id = ${asset.userId}`.execute(trx);
  const { rows } = await sql<{ group_id: string }>`
    select group_id from assets a where user_id = ${asset.userId} and not exists (
      select 1 from verification_sessions s where s.user_id = a.user_id and s.group_id = a.group_id)
    limit 1`.execute(trx);
  const insert = trx
    .insertInto('assets')
    .values({
      ...snakeCased(asset),
      status: 'Processing',
      group_id: intoGroup ?? rows[0]?.group_id ?? groupId,
      project_name: 'default',
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('id').doNothing());
  return affectsRow(trx, insert);
}

/** Result of the processing of an asset. */
export type AssetEnd =
  | { status: 'Active'; url: string; urlExpires: number }
  | { status: 'Failed'; code: string; message: string };

/** Records the result of processing. False when the asset has a result already, which remains. */
export function finishAsset(trx: Db, { id, end, now }: { id: string; end: AssetEnd; now: number }) {
  const result =
    end.status === 'Active'
      ? sql`url = ${end.url}, url_expires = ${end.urlExpires}`
      : sql`error_code = ${end.code}, error_message = ${end.message}`;
  const update = sql`
    update assets set status = ${end.status}, ${result}, updated_at = ${now}
    where id = ${id} and status = 'Processing'`;
  return affectsRow(trx, update);
}

/** Replaces the signed address of an active asset. */
export function renewAssetUrl(
  trx: Db,
  { id, url, urlExpires }: { id: string; url: string; urlExpires: number },
): Promise<boolean> {
  const update = sql`
    update assets set url = ${url}, url_expires = ${urlExpires} where id = ${id} and status = 'Active'`;
  return affectsRow(trx, update);
}
