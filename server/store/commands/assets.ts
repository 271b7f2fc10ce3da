import type { AssetsTable } from '../schema.ts';
import type { Command } from './command.ts';

/** A new asset; `groupId` is that of a user who has none yet, unless the asset goes `intoGroup`. */
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
  groupId: string;
  /** The group of a verified person. */
  intoGroup?: string | undefined;
  now: number;
}

/** Keeps an asset in its user's group. False when there is one of that id already, whoever owns it. */
export const saveAsset: Command<NewAsset, boolean> = async (trx, asset) => {
  // The do-nothing update locks the row, so that a user's first two uploads agree on one group.
  await trx
    .updateTable('users')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', asset.userId)
    .execute();
  const earlier = await trx
    .selectFrom('assets')
    .select('group_id')
    .where('user_id', '=', asset.userId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('verification_sessions')
            .select('session_id')
            .whereRef('verification_sessions.user_id', '=', 'assets.user_id')
            .whereRef('verification_sessions.group_id', '=', 'assets.group_id'),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('assets')
    .values({
      id: asset.id,
      user_id: asset.userId,
      token_id: asset.tokenId,
      channel: asset.channel,
      upstream_id: asset.upstreamId,
      model: asset.model,
      asset_type: asset.assetType,
      name: asset.name,
      status: 'Processing',
      group_id: asset.intoGroup ?? earlier?.group_id ?? asset.groupId,
      project_name: 'default',
      url: null,
      url_expires: null,
      error_code: null,
      error_message: null,
      created_at: asset.now,
      updated_at: asset.now,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
};

/** How the processing of an asset ended. */
export type AssetEnd =
  | { status: 'Active'; url: string; urlExpires: number }
  | { status: 'Failed'; code: string; message: string };

/** Ends the processing of an asset. False when it has ended before: the first end stays. */
export const finishAsset: Command<{ id: string; end: AssetEnd; now: number }, boolean> = async (
  trx,
  { id, end, now },
) => {
  const found =
    end.status === 'Active'
      ? { url: end.url, url_expires: end.urlExpires }
      : { error_code: end.code, error_message: end.message };
  const { numUpdatedRows } = await trx
    .updateTable('assets')
    .set({ status: end.status, ...found, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'Processing')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

/** Puts a newly signed address in the place of an active asset's old one. */
export const renewAssetUrl: Command<{ id: string; url: string; urlExpires: number }, boolean> = async (
  trx,
  { id, url, urlExpires },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('assets')
    .set({ url, url_expires: urlExpires })
    .where('id', '=', id)
    .where('status', '=', 'Active')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};
