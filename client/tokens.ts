import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listPages, type PagePromise } from './page-promise.ts';

type Schemas = components['schemas'];
export type Token = Schemas['Token'];
export type TokenRequest = Schemas['CreateTokenRequest'];
export type TokenListQuery = NonNullable<operations['listTokens']['parameters']['query']>;
export type Session = Schemas['Session'];
export type TokenPage = Schemas['TokenListReply']['data'];

/** The API keys of the key's user. */
export class Tokens {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Creates a key with at most the rights of the calling key. Only this response contains its secret.
   * `POST /api/token/`
   */
  async create(body: TokenRequest, options: CallOptions = {}): Promise<Token> {
    // A retry after a lost response would create a second key.
    return (await this.#caller.call('createToken', { maxRetries: 0, ...options, body })).data;
  }

  /** Lists the keys, newest first, with masked secrets. `GET /api/token/` */
  list(query: TokenListQuery = {}, options: CallOptions = {}): PagePromise<Token, TokenPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listTokens', { ...options, params: { query: params } })).data;
    });
  }

  /** Deletes a key and all keys created with it. They stop working at once. `DELETE /api/token/{id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteToken', { ...options, params: { path: { id } } });
  }

  /**
   * Exchanges the user assertion of a proxy for a session key. The proxy adds it to requests of a browser. Another client
   * passes the `assertion`.
   * `POST /api/session`
   */
  async createSession({
    assertion,
    ...options
  }: CallOptions & { assertion?: string } = {}): Promise<Session> {
    const headers = {
      ...options.headers,
      ...(assertion !== undefined && { 'x-unigate-user-assertion': assertion }),
    };
    return (await this.#caller.call('createSession', { ...options, headers })).data;
  }
}
