import { createHmac, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { hashKey, keyHint } from '../keys.ts';
import type { MemberRecord } from '../queries/members.ts';
import type { Db, TokenStatus } from '../schema.ts';
import { insertToken } from './accounts.ts';
import { lockMember } from './member-lock.ts';
import { lockUser } from './user-lock.ts';

/** Time to live of a session key, in milliseconds. It is renewed when half of it has passed. */
const sessionTtlMs = 12 * 3_600_000;

interface SessionOrder {
  /** Name of the user. */
  userName: string;
  /** Name of the member; null: the user itself. */
  memberName: string | null;
  /** The secret from which session keys are derived. */
  secret: string;
  now: number;
}

export interface SessionRecord {
  tokenId: number;
  key: string;
  /** Unix seconds. */
  expiredTime: number;
  /** Whether the key is new, so that an earlier one is no longer valid. */
  isNew: boolean;
  user: { id: number; name: string };
  /** null: the session is of the user itself. */
  member: Pick<MemberRecord, 'id' | 'name' | 'role'> | null;
}

/** Why a user or a member has no session. `several_users`, `several_members`: the name is not unique. */
export type SessionRefusal =
  | 'no_user'
  | 'several_users'
  | 'user_disabled'
  | 'no_member'
  | 'several_members'
  /** An admin disabled the session key. */
  | 'session_disabled';

/**
 * Returns the session key of a user or of a member of it. Each has one row, whose key is derived from its id and its expiry. All
 * gateways therefore return the same key, until half of its time to live has passed and a new expiry replaces it.
 */
export async function openSession(
  trx: Db,
  { userName, memberName, secret, now }: SessionOrder,
): Promise<SessionRecord | SessionRefusal> {
  const user = await findOwner(trx, userName);
  if (typeof user === 'string') return user;
  const found = memberName === null ? null : await memberNamed(trx, user.id, memberName);
  if (typeof found === 'string') return found;
  const owner = { userId: user.id, memberId: found };
  const current = await findSession(trx, owner);
  if (current === undefined || (current.status === 1 && !isCurrent(current, secret, now))) {
    // Only one transaction creates or renews the key. Users are locked before members, and members before keys.
    await lockUser(trx, user.id, 'exclusive');
  }
  const member = found === null ? null : await lockMember(trx, { userId: user.id, id: found });
  // A concurrent transaction removed the member.
  if (member === undefined) return 'no_member';
  const existing = await findSession(trx, owner);
  const session = existing ?? (await insertSession(trx, owner, member?.role ?? null, now));
  if (session.status !== 1) return 'session_disabled';
  const isNew = !isCurrent(session, secret, now);
  const expiredTime = isNew ? Math.floor((now + sessionTtlMs) / 1000) : session.expiredTime;
  const key = deriveKey(secret, session.id, expiredTime);
  if (isNew) await renewSession(trx, session.id, key, expiredTime);
  return {
    tokenId: session.id,
    key,
    expiredTime,
    isNew,
    user: { id: user.id, name: userName },
    member: member && { id: member.id, name: member.name, role: member.role },
  };
}

interface Session {
  id: number;
  status: TokenStatus;
  keyHash: string;
  /** Unix seconds. */
  expiredTime: number;
}

interface SessionOwner {
  userId: number;
  memberId: number | null;
}

/** Whether the key was derived from this secret, and less than half of its time to live has passed. */
function isCurrent({ id, keyHash, expiredTime }: Session, secret: string, now: number): boolean {
  return (
    expiredTime * 1000 - now > sessionTtlMs / 2 && keyHash === hashKey(deriveKey(secret, id, expiredTime))
  );
}

function deriveKey(secret: string, id: number, expiredTime: number): string {
  return `sk-${createHmac('sha256', secret).update(`session ${id} ${expiredTime}`).digest('base64url')}`;
}

/**
 * Finds a user by its name. Sub-accounts are excluded, because customers choose their names, and could take the name of
 * another user or of a person without a user.
 */
async function findOwner(trx: Db, name: string): Promise<{ id: number } | SessionRefusal> {
  const { rows } = await sql<{ id: number; disabledAt: number | null }>`
    select id, disabled_at as "disabledAt" from users where name = ${name} and parent_id is null limit 2`.execute(
    trx,
  );
  const [user, other] = rows;
  if (user === undefined) return 'no_user';
  if (other !== undefined) return 'several_users';
  return user.disabledAt === null ? { id: user.id } : 'user_disabled';
}

/** Finds the id of a member by its name. */
async function memberNamed(trx: Db, userId: number, name: string): Promise<number | SessionRefusal> {
  const members = await trx
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .limit(2)
    .execute();
  const [member, other] = members;
  if (member === undefined) return 'no_member';
  return other === undefined ? member.id : 'several_members';
}

async function findSession(trx: Db, { userId, memberId }: SessionOwner): Promise<Session | undefined> {
  const { rows } = await sql<Session>`
    select id, status, key_hash as "keyHash", expired_time as "expiredTime" from tokens
    where user_id = ${userId} and coalesce(member_id, 0) = ${memberId ?? 0} and session = 1
      and deleted_at is null`.execute(trx);
  return rows[0];
}

/** Creates the row of a session key that no key opens yet. */
async function insertSession(
  trx: Db,
  { userId, memberId }: SessionOwner,
  memberRole: MemberRecord['role'] | null,
  now: number,
): Promise<Session> {
  const keyHash = randomUUID();
  const token = { userId, name: 'Session', keyHash, keyHint: '', memberId, memberRole, isSession: true };
  const { id } = await insertToken(trx, { ...token, expiredTime: 0, now });
  return { id, status: 1, keyHash, expiredTime: 0 };
}

async function renewSession(trx: Db, id: number, key: string, expiredTime: number): Promise<void> {
  await trx
    .updateTable('tokens')
    .set((row) => ({
      key_hash: hashKey(key),
      key_hint: keyHint(key),
      expired_time: expiredTime,
      // The wallet limits the key. Without one, a key without a limit could spend any amount.
      unlimited_quota: sql<0 | 1>`case when wallet_id is null then 0 else 1 end`,
      // Announces the change to other gateways, even if the expiry is the same.
      lease_epoch: row('lease_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
}
