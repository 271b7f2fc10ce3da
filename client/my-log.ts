import type { components, operations } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';
import { PagePromise, type PageSource } from './page-promise.ts';

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
    return new PagePromise(this.#page(query, options));
  }

  /** Streams all matching entries as CSV. If the export breaks off, reading its body throws. `GET /api/me/log` */
  async export(query: MyLogQuery = {}, options: CallOptions = {}): Promise<BinaryResponse> {
    const params = { query: { ...query, format: 'csv' } } as const;
    const init = { ...options, params, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('listMyLog', init)).response);
  }

  #page(query: MyLogQuery, options: CallOptions): PageSource<MyLogEntry, MyLogPage> {
    return {
      load: async () => {
        const params = { query: { ...query, format: 'json' } } as const;
        const reply = await this.#caller.call('listMyLog', { ...options, params });
        return reply.data;
      },
      itemsOf: ({ items }) => items,
      next: ({ has_more, last_id }) => {
        // Stops if a page refers to itself.
        if (!has_more || last_id === null || last_id === query.after) return undefined;
        return this.#page({ ...query, after: last_id }, options);
      },
    };
  }
}
