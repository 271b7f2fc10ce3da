import { sql } from 'kysely';
import type { MemberRecord } from '../queries/members.ts';
import type { TokenRecord } from '../queries/tokens.ts';
import type { Db, MemberRole } from '../schema.ts';
import { affectsRow, countRows } from '../statement.ts';
import { createToken, type NewToken } from './accounts.ts';
import { lockedKeys } from './balances.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import { lockMember, type Member } from './member-lock.ts';
import { removeFamilies } from './revocation.ts';

/** Largest number of members of a user. */
export const maxMembers = 1_000;

/** Adds a member to a user. `change`: recorded if an admin adds it. */
export async function createMember(
  trx: Db,
  {
    userId,
    name,
    role,
    now,
    change,
  }: { userId: number; name: string; role: MemberRole; now: number; change?: Intent | undefined },
): Promise<MemberRecord | 'no_user' | 'too_many'> {
  // Locks the user, so that concurrent requests do not exceed the maximum.
  const lock = sql`update users set name = name where id = ${userId}`;
  if (!(await affectsRow(trx, lock))) return 'no_user';
  const members = trx.selectFrom('members').where('user_id', '=', userId).where('removed_at', 'is', null);
  if ((await countRows(members)) >= maxMembers) return 'too_many';
  const { id } = await trx
    .insertInto('members')
    .values({ user_id: userId, name, role, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (change !== undefined)
    await recordChange(trx, {
      ...change,
      subject: `member ${id}`,
      details: { user_id: userId, name, role },
    });
  return { id, userId, name, role, keys: 0, createdAt: now };
}

/** Changes a member. Its keys get a new role at once. */
export async function updateMember(
  trx: Db,
  {
    userId,
    id,
    set,
    change,
  }: Member & {
    set: { name?: string | undefined; role?: MemberRole | undefined };
    change?: Intent | undefined;
  },
): Promise<MemberRecord | 'not_found'> {
  const before = await lockMember(trx, { userId, id });
  if (before === undefined) return 'not_found';
  const from = { name: before.name, role: before.role };
  const to = { name: set.name ?? before.name, role: set.role ?? before.role };
  const details = differences(from, to);
  if (details === undefined) return before;
  await trx.updateTable('members').set(to).where('id', '=', id).execute();
  if (to.role !== from.role)
    await sql`
      update tokens set member_role = ${to.role}, lease_epoch = lease_epoch + 1
      where id in ${lockedKeys(trx, sql`member_id = ${id} and deleted_at is null`)}`.execute(trx);
  if (change !== undefined) await recordChange(trx, { ...change, subject: `member ${id}`, details });
  return { ...before, ...to };
}

/** Removes a member and deletes its keys with their descendants. */
export async function removeMember(
  trx: Db,
  { userId, id, now, change }: Member & { now: number; change?: Intent | undefined },
): Promise<'removed' | 'not_found'> {
  if ((await lockMember(trx, { userId, id })) === undefined) return 'not_found';
  await trx.updateTable('members').set({ removed_at: now }).where('id', '=', id).execute();
  const deleted: number[] = [];
  // A child of the member's keys can be created meanwhile, so the keys are read again until none is left.
  for (let keys = await keysOf(trx, id); keys.length > 0; keys = await keysOf(trx, id))
    deleted.push(...(await removeFamilies(trx, keys, now)));
  if (change !== undefined)
    await recordChange(trx, { ...change, subject: `member ${id}`, details: { user_id: userId, deleted } });
  return 'removed';
}

async function keysOf(trx: Db, memberId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from tokens where member_id = ${memberId} and deleted_at is null order by id`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Creates a key of a member with new quota, for an admin. */
export async function createMemberToken(
  trx: Db,
  { memberId, ...token }: NewToken & { memberId: number; change: Creation },
): Promise<TokenRecord | 'no_member'> {
  const member = await lockMember(trx, { userId: token.userId, id: memberId });
  if (member === undefined) return 'no_member';
  return createToken(trx, { ...token, memberId, memberRole: member.role });
}
