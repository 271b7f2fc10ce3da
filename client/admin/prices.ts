import type { components } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type PriceCheck = Schemas['AuditPricesReply']['data'];
export type PriceProblem = Schemas['PriceProblem'];
export type ExplainPriceRequest = Schemas['ExplainPriceRequest'];
export type PriceExplanation = Schemas['PriceExplanation'];

/** Prices and costs of the configuration. */
export class Prices {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Finds likely mistakes in prices and costs. `problems` is empty if there are none. `GET /api/admin/prices/check` */
  async check(options: CallOptions = {}): Promise<PriceCheck> {
    return (await this.#caller.call('auditPrices', options)).data;
  }

  /** Explains what a request would cost, without sending it. `POST /api/admin/prices/explain` */
  async explain(request: ExplainPriceRequest, options: CallOptions = {}): Promise<PriceExplanation> {
    return (await this.#caller.call('explainPrice', { ...options, body: request })).data;
  }
}
