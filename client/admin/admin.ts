import type { ConformanceRunServerEvent } from '../../generated/events.ts';
import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { EventStream } from '../event-stream.ts';
import { AdminCharges } from './admin-charges.ts';
import { AdminDeliveries } from './admin-deliveries.ts';
import { AdminEndpoints } from './admin-endpoints.ts';
import { AdminLogs } from './admin-logs.ts';
import { AdminTasks } from './admin-tasks.ts';
import { AdminTokens } from './admin-tokens.ts';
import { Budgets } from './budgets.ts';
import { Changes } from './changes.ts';
import { Channels } from './channels.ts';
import { Groups } from './groups.ts';
import { Prices } from './prices.ts';
import { Users } from './users.ts';

type Schemas = components['schemas'];
export type Audit = Schemas['AuditReply']['data'];
export type Figures = Schemas['FiguresReply']['data'];
export type Reload = Schemas['ReloadReply']['data'];
export type Release = Schemas['ReleaseReply']['data'];
export type ReloadQuery = NonNullable<operations['reloadConfiguration']['parameters']['query']>;
export type ConformanceRequest = Schemas['TestConformanceRequest'];
export type ConformanceEvent = ConformanceRunServerEvent;
export type FiguresQuery = NonNullable<operations['showFigures']['parameters']['query']>;

/** Admin operations. They require a key with the scope `admin`. Other keys get PermissionDeniedError. */
export class Admin {
  readonly users: Users;
  readonly groups: Groups;
  readonly tokens: AdminTokens;
  readonly channels: Channels;
  readonly tasks: AdminTasks;
  readonly deliveries: AdminDeliveries;
  readonly endpoints: AdminEndpoints;
  readonly budgets: Budgets;
  readonly prices: Prices;
  readonly logs: AdminLogs;
  readonly charges: AdminCharges;
  readonly changes: Changes;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.users = new Users(caller);
    this.groups = new Groups(caller);
    this.tokens = new AdminTokens(caller);
    this.channels = new Channels(caller);
    this.tasks = new AdminTasks(caller);
    this.deliveries = new AdminDeliveries(caller);
    this.endpoints = new AdminEndpoints(caller);
    this.budgets = new Budgets(caller);
    this.prices = new Prices(caller);
    this.logs = new AdminLogs(caller);
    this.charges = new AdminCharges(caller);
    this.changes = new Changes(caller);
  }

  /** Audits the ledger. `problems` is empty if it balances. `GET /api/admin/audit` */
  async audit(options: CallOptions = {}): Promise<Audit> {
    return (await this.#caller.call('auditBooks', options)).data;
  }

  /** Returns aggregated metrics by hour, model, channel and so on. `GET /api/admin/figures` */
  async figures(query: FiguresQuery = {}, options: CallOptions = {}): Promise<Figures> {
    return (await this.#caller.call('showFigures', { ...options, params: { query } })).data;
  }

  /** Applies a changed configuration file on this gateway. Returns the changes. `POST /api/admin/reload` */
  async reload(query: ReloadQuery = {}, options: CallOptions = {}): Promise<Reload> {
    return (await this.#caller.call('reloadConfiguration', { ...options, params: { query } })).data;
  }

  /** Ends maintenance mode on this gateway. `released` is false if it was not in that mode. `POST /api/admin/release` */
  async release(options: CallOptions = {}): Promise<Release> {
    return (await this.#caller.call('releaseGateway', options)).data;
  }

  /**
   * Runs the conformance kit against a server, by default this gateway. Leaving the loop ends the run. The last event has
   * the report, or the reason why there is none. `POST /api/admin/conformance-runs`
   */
  testConformance(body: ConformanceRequest = {}, options: CallOptions = {}): EventStream<ConformanceEvent> {
    const init = { ...options, body, parseAs: 'stream' } as const;
    return new EventStream(
      async () => (await this.#caller.callWithResponse('testConformance', init)).response,
    );
  }
}
