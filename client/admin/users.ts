import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type UserPage = Schemas['UserListReply']['data'];
export type UserQuery = NonNullable<operations['listUsers']['parameters']['query']>;
export type NewUser = Schemas['CreateUserRequest'];
export type UserChange = Schemas['UpdateUserRequest'];

/** The users, whose keys call the gateway. */
export class Users {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** One page, newest first. `GET /api/admin/users` */
  async list(query: UserQuery = {}, options: CallOptions = {}): Promise<UserPage> {
    return (await this.#caller.call('listUsers', { ...options, params: { query } })).data;
  }

  /** Makes a user. `POST /api/admin/users` */
  async create(body: NewUser, options: CallOptions = {}): Promise<User> {
    // A repeat after a lost answer would make a second user.
    return (await this.#caller.call('createUser', { maxRetries: 0, ...options, body })).data;
  }

  /** Changes what the body names; a disabled user's keys are refused. `PATCH /api/admin/users/{id}` */
  async update(id: number, body: UserChange, options: CallOptions = {}): Promise<User> {
    return (await this.#caller.call('updateUser', { ...options, params: { path: { id } }, body })).data;
  }
}
