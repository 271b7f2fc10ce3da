import type { Kysely } from 'kysely';
import type { Database, VoicesTable } from '../schema.ts';

/** A custom voice, whoever owns it: the caller of this decides what another user's voice means. */
export function findVoice(db: Kysely<Database>, voiceId: string): Promise<VoicesTable | undefined> {
  return db.selectFrom('voices').selectAll().where('voice_id', '=', voiceId).executeTakeFirst();
}

/** Custom voices by their ids, whoever owns them, in no order. */
export async function findVoices(db: Kysely<Database>, voiceIds: readonly string[]): Promise<VoicesTable[]> {
  // PostgreSQL knows no NUL in a text, so no voice has one.
  const possible = voiceIds.filter((id) => !id.includes('\0'));
  if (possible.length === 0) return [];
  return db.selectFrom('voices').selectAll().where('voice_id', 'in', possible).execute();
}

/** A user's voices that can be spoken with, or soon can, newest first, `limit` at the most; of one model if one is named. */
export function usableVoices(
  db: Kysely<Database>,
  { userId, targetModel, limit }: { userId: number; targetModel?: string; limit: number },
): Promise<VoicesTable[]> {
  let own = db.selectFrom('voices').where('user_id', '=', userId).where('status', '!=', 'UNDEPLOYED');
  if (targetModel !== undefined) own = own.where('target_model', '=', targetModel);
  return own.selectAll().orderBy('created_at', 'desc').orderBy('voice_id').limit(limit).execute();
}

/** One page of a user's voices of one service, newest first, and how many there are on all pages. */
export async function listVoices(
  db: Kysely<Database>,
  filter: { userId: number; service: string; name: string | undefined; offset: number; limit: number },
): Promise<{ voices: VoicesTable[]; total: number }> {
  const { userId, service, name } = filter;
  let matching = db.selectFrom('voices').where('user_id', '=', userId).where('service', '=', service);
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
