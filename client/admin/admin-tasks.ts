import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type AdminTask = Schemas['AdminTask'];
export type AdminTaskPage = Schemas['AdminTaskListReply']['data'];
export type AdminTaskQuery = NonNullable<operations['searchTasks']['parameters']['query']>;
export type TaskSettlement = Schemas['SettleTaskRequest'];

/** The tasks of all users. */
export class AdminTasks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** One page of the tasks that match, newest first. `GET /api/admin/tasks` */
  async list(query: AdminTaskQuery = {}, options: CallOptions = {}): Promise<AdminTaskPage> {
    return (await this.#caller.call('searchTasks', { ...options, params: { query } })).data;
  }

  /** Cancels a task that still waits. `POST /api/admin/tasks/{id}/cancel` */
  async cancel(id: string, options: CallOptions = {}): Promise<AdminTask> {
    return (await this.#caller.call('cancelTask', { ...once, ...options, params: { path: { id } } })).data;
  }

  /** Ends a task by hand, whatever its provider says. `POST /api/admin/tasks/{id}/settle` */
  async settle(id: string, body: TaskSettlement, options: CallOptions = {}): Promise<AdminTask> {
    const init = { ...once, ...options, params: { path: { id } }, body };
    return (await this.#caller.call('settleTask', init)).data;
  }
}

/** A repeat after a lost answer would be refused, although the task has ended. */
const once = { maxRetries: 0 };
