import { sql } from 'kysely';
import type { Db, VoicesTable } from '../schema.ts';
import { countRows } from '../statement.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** Finds a custom voice of any user. The caller checks the owner. */
export function findVoice(db: Db, voiceId: string): Promise<VoicesTable | undefined> {
  return db.selectFrom('voices').selectAll().where('voice_id', '=', voiceId).executeTakeFirst();
}

/** A custom voice, and whether the viewer sees it. Other callers must not receive its data. */
export type FoundVoice = VoicesTable & { isSeen: boolean };

/** Finds custom voices of any user by their ids, in no order. */
export async function findVoices(db: Db, voiceIds: readonly string[], viewer: Viewer): Promise<FoundVoice[]> {
  // A text of PostgreSQL has no NUL.
  const possible = voiceIds.filter((id) => !id.includes('\0'));
  if (possible.length === 0) return [];
  const rows = await db
    .selectFrom('voices')
    .selectAll()
    .select(sql<number>`case when ${isSeen(viewer, 'voices.token_id')} then 1 else 0 end`.as('seen'))
    .where('voice_id', 'in', possible)
    .execute();
  return rows.map(({ seen, ...voice }) => ({
    ...voice,
    isSeen: seen === 1 && voice.user_id === viewer.userId,
  }));
}

/** Lists up to `limit` voices of the viewer that are not undeployed, the newest first, with `targetModel` those of one model. */
export function usableVoices(
  db: Db,
  { targetModel, limit, ...viewer }: { targetModel?: string; limit: number } & Viewer,
): Promise<VoicesTable[]> {
  let own = db.selectFrom('voices').where('user_id', '=', viewer.userId).where('status', '!=', 'UNDEPLOYED');
  if (viewer.family !== undefined) own = own.where(areSeen(viewer, 'voices.token_id'));
  if (targetModel !== undefined) own = own.where('target_model', '=', targetModel);
  return own.selectAll().orderBy('created_at', 'desc').orderBy('voice_id').limit(limit).execute();
}

/** Returns a page of the viewer's voices of a service, the newest first, and the number of voices on all pages. */
export async function listVoices(
  db: Db,
  filter: Viewer & { service: string; name: string | undefined; offset: number; limit: number },
): Promise<{ voices: VoicesTable[]; total: number }> {
  const { userId, service, name } = filter;
  let matching = db.selectFrom('voices').where('user_id', '=', userId).where('service', '=', service);
  if (filter.family !== undefined) matching = matching.where(areSeen(filter, 'voices.token_id'));
  if (name !== undefined) matching = matching.where('name', '=', name);
  const total = await countRows(matching);
  const voices = await matching
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('voice_id')
    .offset(filter.offset)
    .limit(filter.limit)
    .execute();
  return { voices, total };
}
