import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';
import { type CreateOptions, withIdempotencyKey } from '../tasks/tasks.ts';

type Schemas = components['schemas'];
export type AdminToken = Schemas['AdminToken'];
export type AdminTokenPage = Schemas['AdminTokenListReply']['data'];
export type AdminTokenQuery = NonNullable<operations['searchTokens']['parameters']['query']>;
export type NewUserToken = Schemas['CreateUserTokenRequest'];
export type TokenChange = Schemas['UpdateTokenRequest'];
export type RevokeQuery = NonNullable<operations['revokeToken']['parameters']['query']>;
export type Grant = Schemas['Grant'];
export type NewGrant = Schemas['GrantQuotaRequest'];

/** The API keys of all users. */
export class AdminTokens {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching keys, newest first, with masked secrets. `GET /api/admin/tokens` */
  list(query: AdminTokenQuery = {}, options: CallOptions = {}): PagePromise<AdminToken, AdminTokenPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('searchTokens', { ...options, params: { query: params } })).data;
    });
  }

  /** Creates a key. Only this response contains its secret. `POST /api/admin/users/{id}/tokens` */
  async create(userId: number, body: NewUserToken, options: CallOptions = {}): Promise<AdminToken> {
    // A retry after a lost response would create a second key.
    const init = { maxRetries: 0, ...options, params: { path: { id: userId } }, body };
    return (await this.#caller.call('createUserToken', init)).data;
  }

  /** Changes the fields in the body. `PATCH /api/admin/tokens/{id}` */
  async update(id: number, body: TokenChange, options: CallOptions = {}): Promise<AdminToken> {
    return (await this.#caller.call('updateToken', { ...options, params: { path: { id } }, body })).data;
  }

  /** Grants or withdraws quota. Retries of the request never apply it twice. `POST /api/admin/tokens/{id}/grants` */
  async grant(id: number, body: NewGrant, options: CreateOptions = {}): Promise<Grant> {
    const init = { ...withIdempotencyKey(options), params: { path: { id } }, body };
    return (await this.#caller.call('grantQuota', init)).data;
  }

  /**
   * Deletes a key and, without `keep_children`, all keys that were created with it. They stop working at once.
   * `DELETE /api/admin/tokens/{id}`
   */
  async revoke(id: number, query: RevokeQuery = {}, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('revokeToken', { ...options, params: { path: { id }, query } });
  }
}
