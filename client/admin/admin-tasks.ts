import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type AdminTask = Schemas['AdminTask'];
export type AdminTaskDetails = Schemas['AdminTaskDetails'];
export type AdminTaskPage = Schemas['AdminTaskListReply']['data'];
export type AdminTaskQuery = NonNullable<operations['searchTasks']['parameters']['query']>;
export type TaskSettlement = Schemas['SettleTaskRequest'];

/** The tasks of all users. */
export class AdminTasks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching tasks, newest first. `GET /api/admin/tasks` */
  list(query: AdminTaskQuery = {}, options: CallOptions = {}): PagePromise<AdminTask, AdminTaskPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('searchTasks', { ...options, params: { query: params } })).data;
    });
  }

  /** Retrieves a task with its timeline. `GET /api/admin/tasks/{id}` */
  async retrieve(id: string, options: CallOptions = {}): Promise<AdminTaskDetails> {
    return (await this.#caller.call('getTask', { ...options, params: { path: { id } } })).data;
  }

  /** Cancels a queued task. `POST /api/admin/tasks/{id}/cancel` */
  async cancel(id: string, options: CallOptions = {}): Promise<AdminTask> {
    return (await this.#caller.call('cancelTask', { ...withoutRetry, ...options, params: { path: { id } } }))
      .data;
  }

  /** Ends a task manually, regardless of its provider. `POST /api/admin/tasks/{id}/settle` */
  async settle(id: string, body: TaskSettlement, options: CallOptions = {}): Promise<AdminTask> {
    const init = { ...withoutRetry, ...options, params: { path: { id } }, body };
    return (await this.#caller.call('settleTask', init)).data;
  }
}

/** A retry after a lost response would be rejected, although the task has ended. */
const withoutRetry = { maxRetries: 0 };
