import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listAfter, type PagePromise } from './page-promise.ts';

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
    const load = async (page: MyTaskQuery) =>
      (await this.#caller.call('listMyTasks', { ...options, params: { query: page } })).data;
    return listAfter(query, load, ({ items }) => items);
  }

  /** Retrieves a task with its timeline, request, response and charge. `GET /api/me/tasks/{id}` */
  async retrieve(id: string, options: CallOptions = {}): Promise<MyTaskDetails> {
    return (await this.#caller.call('getMyTask', { ...options, params: { path: { id } } })).data;
  }
}
