import type { Member, MemberChange, NewMember, Unigate } from '../../index.ts';

interface Options {
  signal: AbortSignal;
}

/** Methods for the members of one user. */
export interface MemberCalls {
  list(options: Options): Promise<Member[]>;
  create(body: NewMember, options: Options): Promise<Member>;
  update(id: number, body: MemberChange, options: Options): Promise<Member>;
  delete(id: number, options: Options): Promise<void>;
}

/** Returns the methods of an operator for the members of a user. */
export function membersOf({ admin }: Unigate, userId: number): MemberCalls {
  const { members } = admin.users;
  return {
    list: (options) => members.list(userId, options),
    create: (body, options) => members.create(userId, body, options),
    update: (id, body, options) => members.update(userId, id, body, options),
    delete: (id, options) => members.delete(userId, id, options),
  };
}
