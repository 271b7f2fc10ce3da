import { type Kysely, sql } from 'kysely';
import type { Database, VoicesTable } from '../schema.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** A custom voice, whoever owns it: the caller of this decides what another user's voice means. */
export function findVoice(db: Kysely<Database>, voiceId: string): Promise<VoicesTable | undefined> {
  return db.selectFrom('voices').selectAll().where('voice_id', '=', voiceId).executeTakeFirst();
}

/** A custom voice and whether the viewer sees it. Others may only know that its id is taken. */
export type FoundVoice = VoicesTable & { isSeen: boolean };

/** Custom voices by their ids, whoever owns them, in no order. */
export async function findVoices(
  db: Kysely<Database>,
  voiceIds: readonly string[],
  viewer: Viewer,
): Promise<FoundVoice[]> {
  // PostgreSQL knows no NUL in a text, so no voice has one.
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

/** The viewer's voices that can be spoken with, or soon can, newest first, `limit` at the most; of one model if one is named. */
export function usableVoices(
  db: Kysely<Database>,
  { targetModel, limit, ...viewer }: { targetModel?: string; limit: number } & Viewer,
): Promise<VoicesTable[]> {
  let own = db.selectFrom('voices').where('user_id', '=', viewer.userId).where('status', '!=', 'UNDEPLOYED');
  if (viewer.family !== undefined) own = own.where(areSeen(viewer, 'voices.token_id'));
  if (targetModel !== undefined) own = own.where('target_model', '=', targetModel);
  return own.selectAll().orderBy('created_at', 'desc').orderBy('voice_id').limit(limit).execute();
}

/** One page of the viewer's voices of one service, newest first, and how many there are on all pages. */
export async function listVoices(
  db: Kysely<Database>,
  filter: Viewer & { service: string; name: string | undefined; offset: number; limit: number },
): Promise<{ voices: VoicesTable[]; total: number }> {
  const { userId, service, name } = filter;
  let matching = db.selectFrom('voices').where('user_id', '=', userId).where('service', '=', service);
  if (filter.family !== undefined) matching = matching.where(areSeen(filter, 'voices.token_id'));
  if (name !== undefined) matching = matching.where('name', '=', name);
  const { total } = await matching
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const voices = await matching
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('voice_id')
    .offset(filter.offset)
    .limit(filter.limit)
    .execute();
  return { voices, total };
}
