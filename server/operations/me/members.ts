import type { components } from '../../../generated/http.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Caller, isOwner } from '../../keys/caller.ts';
import { accessDenied, type Failure, notFound } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import { maxMembers } from '../../store/commands/members.ts';
import type { MemberRecord } from '../../store/queries/members.ts';
import { findUser } from '../../store/queries/users.ts';

/** Refuses keys that may not manage the members of their user. @throws Failure 403 */
export function requireOwner(caller: Caller): void {
  if (!isOwner(caller)) throw accessDenied('This operation requires a key of an owner without limits.');
}

/** Renders a member. */
export function viewMember({
  createdAt,
  userId: _,
  ...member
}: MemberRecord): components['schemas']['Member'] {
  return { ...member, created_time: unixTime(createdAt) };
}

/** Builds a 404 for a member that the user does not have. */
export const unknownMember = (): Failure => notFound('member_id', 'there is no such member.');

/** Builds a 404 for a member that was not found, or for its user. */
export const unknownMemberOf = async ({ store }: Gateway, userId: number): Promise<Failure> =>
  (await findUser(store.read, userId)) === undefined
    ? notFound('id', 'there is no such user.')
    : unknownMember();

/** Builds a 403 for a new key of a member that the user does not have. */
export const unknownMemberOfKey = (id: number | undefined): Failure =>
  accessDenied(`member_id: the user has no member ${id}.`);

/** Builds a 403 for a user with the largest number of members. */
export const tooManyMembers = (): Failure => accessDenied(`A user has at most ${maxMembers} members.`);
