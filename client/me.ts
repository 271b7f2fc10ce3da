import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type MeReply = Schemas['Me'];

/** The key of the client. */
export class Me {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Retrieves the key with its scopes, models, limits and quota, its user and its group. `GET /api/me` */
  async retrieve(options: CallOptions = {}): Promise<MeReply> {
    return (await this.#caller.call('getMe', options)).data;
  }
}
