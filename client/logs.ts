import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listPages, type PagePromise } from './page-promise.ts';

type Schemas = components['schemas'];
export type LogItem = Schemas['LogItem'];
export type LogPage = Schemas['LogSearchReply']['data'];
export type LogQuery = NonNullable<operations['searchLogs']['parameters']['query']>;

/** The calls of the key's user and their cost. */
export class Logs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the entries that match a keyword and a time range, newest first. `GET /api/log/search` */
  search(query: LogQuery = {}, options: CallOptions = {}): PagePromise<LogItem, LogPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('searchLogs', { ...options, params: { query: params } })).data;
    });
  }
}
