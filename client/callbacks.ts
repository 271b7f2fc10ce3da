import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listPages, type PagePromise } from './page-promise.ts';

type Schemas = components['schemas'];
export type Callback = Schemas['Callback'];
export type CallbackPage = Schemas['ListCallbacksReply']['data'];
export type CallbackQuery = NonNullable<operations['listCallbacks']['parameters']['query']>;

/** The callbacks of the key's tasks, and of events to the endpoints of its user. */
export class Callbacks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the callbacks since a time, newest first, with their body and signed headers. `GET /api/callbacks` */
  list(query: CallbackQuery = {}, options: CallOptions = {}): PagePromise<Callback, CallbackPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listCallbacks', { ...options, params: { query: params } })).data;
    });
  }
}
