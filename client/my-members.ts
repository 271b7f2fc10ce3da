import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type Member = Schemas['Member'];
export type NewMember = Schemas['CreateMemberRequest'];
export type MemberChange = Schemas['UpdateMemberRequest'];

/** The members of the user of the key. They require a key of an owner. */
export class MyMembers {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the members, oldest first. `GET /api/me/members` */
  async list(options: CallOptions = {}): Promise<Member[]> {
    return (await this.#caller.call('listMyMembers', options)).data.items;
  }

  /** Adds a member without keys. `POST /api/me/members` */
  async create(body: NewMember, options: CallOptions = {}): Promise<Member> {
    // A retry after a lost response would add a second member.
    return (await this.#caller.call('createMyMember', { maxRetries: 0, ...options, body })).data;
  }

  /** Changes a member. Its keys get a new role at once. `PATCH /api/me/members/{member_id}` */
  async update(id: number, body: MemberChange, options: CallOptions = {}): Promise<Member> {
    const params = { path: { member_id: id } };
    return (await this.#caller.call('updateMyMember', { ...options, params, body })).data;
  }

  /** Removes a member and deletes its keys. `DELETE /api/me/members/{member_id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteMyMember', { ...options, params: { path: { member_id: id } } });
  }
}
