import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';
import { UserMembers } from './user-members.ts';
import { UserStatements } from './user-statements.ts';
import { UserWallets } from './user-wallets.ts';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type UserPage = Schemas['UserListReply']['data'];
export type UserQuery = NonNullable<operations['listUsers']['parameters']['query']>;
export type NewUser = Schemas['CreateUserRequest'];
export type UserChange = Schemas['UpdateUserRequest'];

/** The users of the gateway. */
export class Users {
  readonly statements: UserStatements;
  readonly members: UserMembers;
  readonly wallets: UserWallets;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.statements = new UserStatements(caller);
    this.members = new UserMembers(caller);
    this.wallets = new UserWallets(caller);
  }

  /** Lists the users, newest first. `GET /api/admin/users` */
  list(query: UserQuery = {}, options: CallOptions = {}): PagePromise<User, UserPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listUsers', { ...options, params: { query: params } })).data;
    });
  }

  /** Retrieves a user. `GET /api/admin/users/{id}` */
  async retrieve(id: number, options: CallOptions = {}): Promise<User> {
    return (await this.#caller.call('getUser', { ...options, params: { path: { id } } })).data;
  }

  /** Creates a user. `POST /api/admin/users` */
  async create(body: NewUser, options: CallOptions = {}): Promise<User> {
    // A retry after a lost response would create a second user.
    return (await this.#caller.call('createUser', { maxRetries: 0, ...options, body })).data;
  }

  /** Changes the fields in the body. Keys of a disabled user are rejected. `PATCH /api/admin/users/{id}` */
  async update(id: number, body: UserChange, options: CallOptions = {}): Promise<User> {
    return (await this.#caller.call('updateUser', { ...options, params: { path: { id } }, body })).data;
  }
}
