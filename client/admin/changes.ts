import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

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

  /** Lists the changes, newest first. `GET /api/admin/changes` */
  list(query: ChangeQuery = {}, options: CallOptions = {}): PagePromise<Change, ChangePage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listChanges', { ...options, params: { query: params } })).data;
    });
  }
}
