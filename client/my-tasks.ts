import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { PagePromise, type PageSource } from './page-promise.ts';

type Schemas = components['schemas'];
export type MyTask = Schemas['MyTask'];
export type MyTaskDetails = Schemas['MyTaskDetails'];
export type MyTaskPage = Schemas['MyTaskListReply']['data'];
export type MyTaskQuery = NonNullable<operations['listMyTasks']['parameters']['query']>;

/** The tasks of all formats that the key sees. */
export class MyTasks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching tasks, newest first. `GET /api/me/tasks` */
  list(query: MyTaskQuery = {}, options: CallOptions = {}): PagePromise<MyTask, MyTaskPage> {
    return new PagePromise(this.#page(query, options));
  }

  /** Retrieves a task with its timeline, request, response and charge. `GET /api/me/tasks/{id}` */
  async retrieve(id: string, options: CallOptions = {}): Promise<MyTaskDetails> {
    return (await this.#caller.call('getMyTask', { ...options, params: { path: { id } } })).data;
  }

  #page(query: MyTaskQuery, options: CallOptions): PageSource<MyTask, MyTaskPage> {
    return {
      load: async () => (await this.#caller.call('listMyTasks', { ...options, params: { query } })).data,
      itemsOf: ({ items }) => items,
      next: ({ has_more, last_id }) => {
        // Stops if a page refers to itself.
        if (!has_more || last_id === null || last_id === query.after) return undefined;
        return this.#page({ ...query, after: last_id }, options);
      },
    };
  }
}
