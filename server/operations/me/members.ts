import type { components } from '../../../generated/http.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Caller, isOwner } from '../../keys/caller.ts';
import { accessDenied, type Failure, notFound } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { Intent } from '../../store/commands/changes.ts';
import { maxMembers } from '../../store/commands/members.ts';
import type { MemberRecord } from '../../store/queries/members.ts';
import { findUser } from '../../store/queries/users.ts';

type Member = components['schemas']['Member'];
type MemberFields = Pick<MemberRecord, 'name' | 'role'>;

/** Whose members an operation changes. */
interface MemberOwner {
  gateway: Gateway;
  userId: number;
  /** Recorded if an admin makes the change. */
  change?: Intent;
}

/** Refuses keys that may not manage the members and sub-accounts of their user. @throws Failure 403 */
export function requireOwner(caller: Pick<Caller, 'hasLimits' | 'memberRole'>): void {
  if (!isOwner(caller)) throw accessDenied('This operation requires a key of an owner without limits.');
}

/** Returns the caller's user. @throws Failure 403 for a key that may not manage its members */
export function memberOwnerOf({ gateway, caller }: { gateway: Gateway; caller: Caller }): MemberOwner {
  requireOwner(caller);
  return { gateway, userId: caller.userId };
}

/** Adds a member. @throws Failure 403 or 404 */
export async function addMember(
  { gateway, userId, change }: MemberOwner,
  { name, role }: MemberFields,
): Promise<Member> {
  const order = { userId, name, role, now: gateway.clock(), change };
  const member = await gateway.store.run('createMember', order);
  if (member === 'no_user') throw unknownUser();
  if (member === 'too_many') throw accessDenied(`A user has at most ${maxMembers} members.`);
  return viewMember(member);
}

/** Changes a member. @throws Failure 404 */
export async function changeMember(
  { gateway, userId, change }: MemberOwner,
  id: number,
  { name, role }: Partial<MemberFields>,
): Promise<Member> {
  const member = await gateway.store.run('updateMember', { userId, id, set: { name, role }, change });
  if (member === 'not_found') throw await unknownMember(gateway, userId);
  gateway.keys.invalidate({ userId });
  return viewMember(member);
}

/** Removes a member. @throws Failure 404 */
export async function removeMember({ gateway, userId, change }: MemberOwner, id: number): Promise<void> {
  const order = { userId, id, now: gateway.clock(), change };
  if ((await gateway.store.run('removeMember', order)) === 'not_found')
    throw await unknownMember(gateway, userId);
  gateway.keys.invalidate({ userId });
}

/** Renders a member. */
export function viewMember({ createdAt, userId: _, ...member }: MemberRecord): Member {
  return { ...member, created_time: unixTime(createdAt) };
}

const unknownUser = (): Failure => notFound('id', 'there is no such user.');

/** Builds a 404 for a member that was not found, or for its user. */
const unknownMember = async ({ store }: Gateway, userId: number): Promise<Failure> =>
  (await findUser(store.read, userId)) === undefined
    ? unknownUser()
    : notFound('member_id', 'there is no such member.');

/** Builds a 403 for a new key of a member that the user does not have. */
export const unknownMemberOfKey = (id: number | undefined): Failure =>
  accessDenied(`member_id: the user has no member ${id}.`);
