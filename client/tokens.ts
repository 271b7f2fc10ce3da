import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type Token = Schemas['Token'];
export type TokenRequest = Schemas['CreateTokenRequest'];
export type TokenListQuery = NonNullable<operations['listTokens']['parameters']['query']>;
export type TokenPage = Schemas['TokenListReply']['data'];

/** The API keys of one's own user. */
export class Tokens {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Makes a key, which may do no more than the one that the call is made with. Its secret is in this answer and nowhere
   * else. `POST /api/token/`
   */
  async create(body: TokenRequest, options: CallOptions = {}): Promise<Token> {
    // A repeat after a lost answer would make a second key.
    return (await this.#caller.call('createToken', { maxRetries: 0, ...options, body })).data;
  }

  /** One page of the keys, newest first, secrets masked. `GET /api/token/` */
  async list(query: TokenListQuery = {}, options: CallOptions = {}): Promise<TokenPage> {
    return (await this.#caller.call('listTokens', { ...options, params: { query } })).data;
  }

  /** Deletes a key and all keys that were created with it. They stop working at once. `DELETE /api/token/{id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteToken', { ...options, params: { path: { id } } });
  }
}
