import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type Group = Schemas['Group'];
export type GroupPage = Schemas['GroupListReply']['data'];
export type GroupQuery = NonNullable<operations['listGroups']['parameters']['query']>;

/** The groups of users and keys. */
export class Groups {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the groups, configured groups first. `GET /api/admin/groups` */
  list(query: GroupQuery = {}, options: CallOptions = {}): PagePromise<Group, GroupPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listGroups', { ...options, params: { query: params } })).data;
    });
  }
}
