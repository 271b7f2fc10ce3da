import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type Change = Schemas['Change'];
export type ChangePage = Schemas['ChangeListReply']['data'];
export type ChangeQuery = NonNullable<operations['listChanges']['parameters']['query']>;

/** Admin changes. */
export class Changes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Returns a page of the changes, newest first. `GET /api/admin/changes` */
  async list(query: ChangeQuery = {}, options: CallOptions = {}): Promise<ChangePage> {
    return (await this.#caller.call('listChanges', { ...options, params: { query } })).data;
  }
}
