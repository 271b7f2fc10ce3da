import type { Caller, CallOptions } from '../call.ts';
import type { Member, MemberChange, NewMember } from '../my-members.ts';

/** The members of users. */
export class UserMembers {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the members of a user, oldest first. `GET /api/admin/users/{id}/members` */
  async list(userId: number, options: CallOptions = {}): Promise<Member[]> {
    const params = { path: { id: userId } };
    return (await this.#caller.call('listUserMembers', { ...options, params })).data.items;
  }

  /** Adds a member without keys. `POST /api/admin/users/{id}/members` */
  async create(userId: number, body: NewMember, options: CallOptions = {}): Promise<Member> {
    const params = { path: { id: userId } };
    // A retry after a lost response would add a second member.
    return (await this.#caller.call('createUserMember', { maxRetries: 0, ...options, params, body })).data;
  }

  /** Changes a member. Its keys get a new role at once. `PATCH /api/admin/users/{id}/members/{member_id}` */
  async update(userId: number, id: number, body: MemberChange, options: CallOptions = {}): Promise<Member> {
    const params = { path: { id: userId, member_id: id } };
    return (await this.#caller.call('updateUserMember', { ...options, params, body })).data;
  }

  /** Removes a member and deletes its keys. `DELETE /api/admin/users/{id}/members/{member_id}` */
  async delete(userId: number, id: number, options: CallOptions = {}): Promise<void> {
    const params = { path: { id: userId, member_id: id } };
    await this.#caller.call('deleteUserMember', { ...options, params });
  }
}
