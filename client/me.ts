import type { components, operations } from '../generated/http.ts';
import type { BudgetPage } from './admin/budgets.ts';
import type { Caller, CallOptions } from './call.ts';
import { Endpoints } from './endpoints.ts';
import { MyAccounts } from './my-accounts.ts';
import { MyLog } from './my-log.ts';
import { MyMembers } from './my-members.ts';
import { MyStatements } from './my-statements.ts';
import { MyTasks } from './my-tasks.ts';

type Schemas = components['schemas'];
export type MeReply = Schemas['Me'];
export type MyPrices = Schemas['MyPriceListReply']['data'];
export type Usage = Schemas['MyUsageReply']['data'];
export type UsageQuery = NonNullable<operations['getMyUsage']['parameters']['query']>;

/** The key of the client, its tasks, log, statements, prices and usage, and the callback endpoints of its user. */
export class Me {
  readonly tasks: MyTasks;
  readonly endpoints: Endpoints;
  readonly log: MyLog;
  readonly statements: MyStatements;
  readonly members: MyMembers;
  readonly accounts: MyAccounts;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.tasks = new MyTasks(caller);
    this.log = new MyLog(caller);
    this.statements = new MyStatements(caller);
    this.endpoints = new Endpoints(caller);
    this.members = new MyMembers(caller);
    this.accounts = new MyAccounts(caller);
  }

  /** Retrieves the key with its scopes, models, limits and quota, its user and its group. `GET /api/me` */
  async retrieve(options: CallOptions = {}): Promise<MeReply> {
    return (await this.#caller.call('getMe', options)).data;
  }

  /** Lists the budgets that the key sees, oldest first. `GET /api/me/budgets` */
  async budgets(options: CallOptions = {}): Promise<BudgetPage> {
    return (await this.#caller.call('listMyBudgets', options)).data;
  }

  /** Returns requests, errors, latency and quota by hour, model and so on. `GET /api/me/usage` */
  async usage(query: UsageQuery = {}, options: CallOptions = {}): Promise<Usage> {
    return (await this.#caller.call('getMyUsage', { ...options, params: { query } })).data;
  }

  /** Returns the models of the key with their prices. `GET /api/me/prices` */
  async prices(options: CallOptions = {}): Promise<MyPrices> {
    return (await this.#caller.call('listMyPrices', options)).data;
  }
}
