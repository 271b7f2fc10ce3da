import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listPages, type PagePromise } from './page-promise.ts';
import type { Token, TokenPage } from './tokens.ts';

type Schemas = components['schemas'];
export type Account = Schemas['Account'];
export type NewAccount = Schemas['CreateAccountRequest'];
export type AccountChange = Schemas['UpdateAccountRequest'];
export type NewAccountToken = Schemas['CreateAccountTokenRequest'];
export type AccountTokenChange = Schemas['UpdateAccountTokenRequest'];
export type AccountTokenQuery = NonNullable<operations['listMyAccountTokens']['parameters']['query']>;

/** The sub-accounts of the user of the key. Changes require a key of an owner. */
export class MyAccounts {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the sub-accounts, oldest first. `GET /api/me/accounts` */
  async list(options: CallOptions = {}): Promise<Account[]> {
    return (await this.#caller.call('listMyAccounts', options)).data.items;
  }

  /** Creates a sub-account without keys. `POST /api/me/accounts` */
  async create(body: NewAccount, options: CallOptions = {}): Promise<Account> {
    // A retry after a lost response would create a second sub-account.
    return (await this.#caller.call('createMyAccount', { maxRetries: 0, ...options, body })).data;
  }

  /** Renames, disables or enables a sub-account. `PATCH /api/me/accounts/{account_id}` */
  async update(id: number, body: AccountChange, options: CallOptions = {}): Promise<Account> {
    const params = { path: { account_id: id } };
    return (await this.#caller.call('updateMyAccount', { ...options, params, body })).data;
  }

  /** Creates a key of a sub-account. Only this result has the secret. `POST /api/me/accounts/{account_id}/tokens` */
  async createToken(id: number, body: NewAccountToken, options: CallOptions = {}): Promise<Token> {
    const init = { maxRetries: 0, ...options, params: { path: { account_id: id } }, body };
    return (await this.#caller.call('createMyAccountToken', init)).data;
  }

  /** Lists the keys of a sub-account, newest first, with masked secrets. `GET /api/me/accounts/{account_id}/tokens` */
  listTokens(
    id: number,
    query: AccountTokenQuery = {},
    options: CallOptions = {},
  ): PagePromise<Token, TokenPage> {
    return listPages(query, async (params) => {
      const init = { ...options, params: { path: { account_id: id }, query: params } };
      return (await this.#caller.call('listMyAccountTokens', init)).data;
    });
  }

  /** Changes the fields in the body. `PATCH /api/me/accounts/{account_id}/tokens/{id}` */
  async updateToken(
    id: number,
    tokenId: number,
    body: AccountTokenChange,
    options: CallOptions = {},
  ): Promise<Token> {
    const init = { ...options, params: { path: { account_id: id, id: tokenId } }, body };
    return (await this.#caller.call('updateMyAccountToken', init)).data;
  }

  /** Deletes a key and all keys created with it. They stop working at once. `DELETE /api/me/accounts/{account_id}/tokens/{id}` */
  async deleteToken(id: number, tokenId: number, options: CallOptions = {}): Promise<void> {
    const params = { path: { account_id: id, id: tokenId } };
    await this.#caller.call('deleteMyAccountToken', { ...options, params });
  }
}
