import type { components, operations } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';
import { listAfter, type PagePromise } from './page-promise.ts';

type Schemas = components['schemas'];
export type MyLogEntry = Schemas['MyLogEntry'];
export type MyLogPage = Schemas['MyLogReply']['data'];
export type MyLogQuery = Omit<NonNullable<operations['listMyLog']['parameters']['query']>, 'format'>;

/** The ended calls and tasks that the key sees, with their cost. */
export class MyLog {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching entries, newest first. `GET /api/me/log` */
  list(query: MyLogQuery = {}, options: CallOptions = {}): PagePromise<MyLogEntry, MyLogPage> {
    const load = async (page: MyLogQuery) => {
      const params = { query: { ...page, format: 'json' } } as const;
      return (await this.#caller.call('listMyLog', { ...options, params })).data;
    };
    return listAfter(query, load, ({ items }) => items);
  }

  /** Streams all matching entries as CSV. If the export breaks off, reading its body throws. `GET /api/me/log` */
  async export(query: MyLogQuery = {}, options: CallOptions = {}): Promise<BinaryResponse> {
    const params = { query: { ...query, format: 'csv' } } as const;
    const init = { ...options, params, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('listMyLog', init)).response);
  }
}
