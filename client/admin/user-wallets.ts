import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listAfter, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type Wallet = Schemas['Wallet'];
export type WalletGrant = Schemas['WalletGrant'];
export type WalletGrantPage = Schemas['WalletGrantListReply']['data'];
export type WalletGrantQuery = NonNullable<operations['listWalletGrants']['parameters']['query']>;
export type NewWalletGrant = Schemas['GrantToWalletRequest'];

/** The wallets of users. */
export class UserWallets {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Retrieves the wallet of a user. `GET /api/admin/users/{id}/wallet` */
  async retrieve(id: number, options: CallOptions = {}): Promise<Wallet> {
    return (await this.#caller.call('getWallet', { ...options, params: { path: { id } } })).data;
  }

  /** Opens the wallet of a user, or returns the open one. `POST /api/admin/users/{id}/wallet` */
  async open(id: number, options: CallOptions = {}): Promise<Wallet> {
    return (await this.#caller.call('openWallet', { ...options, params: { path: { id } } })).data;
  }

  /** Grants or withdraws quota, once for each reference. `POST /api/admin/users/{id}/grants` */
  async grant(id: number, body: NewWalletGrant, options: CallOptions = {}): Promise<WalletGrant> {
    return (await this.#caller.call('grantToWallet', { ...options, params: { path: { id } }, body })).data;
  }

  /** Lists the grants to a wallet, newest first. `GET /api/admin/users/{id}/grants` */
  listGrants(
    id: number,
    query: WalletGrantQuery = {},
    options: CallOptions = {},
  ): PagePromise<WalletGrant, WalletGrantPage> {
    const load = async (page: WalletGrantQuery) => {
      const params = { path: { id }, query: page };
      return (await this.#caller.call('listWalletGrants', { ...options, params })).data;
    };
    return listAfter(query, load, ({ items }) => items);
  }
}
