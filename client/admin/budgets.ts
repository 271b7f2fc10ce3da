import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type Budget = Schemas['Budget'];
export type BudgetPage = Schemas['BudgetListReply']['data'];
export type BudgetRequest = Schemas['CreateBudgetRequest'];
export type BudgetUpdate = Schemas['UpdateBudgetRequest'];
export type BudgetQuery = NonNullable<operations['listBudgets']['parameters']['query']>;

/** Budgets of users and keys, which limit or report what they spend in a period. */
export class Budgets {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching budgets, newest first. `GET /api/admin/budgets` */
  list(query: BudgetQuery = {}, options: CallOptions = {}): PagePromise<Budget, BudgetPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listBudgets', { ...options, params: { query: params } })).data;
    });
  }

  /** Creates a budget of a user or a key. `POST /api/admin/budgets` */
  async create(body: BudgetRequest, options: CallOptions = {}): Promise<Budget> {
    return (await this.#caller.call('createBudget', { ...options, body })).data;
  }

  /** Changes a budget. Its spending remains. `PATCH /api/admin/budgets/{id}` */
  async update(id: number, body: BudgetUpdate, options: CallOptions = {}): Promise<Budget> {
    return (await this.#caller.call('updateBudget', { ...options, params: { path: { id } }, body })).data;
  }

  /** Deletes a budget. `DELETE /api/admin/budgets/{id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteBudget', { ...options, params: { path: { id } } });
  }
}
