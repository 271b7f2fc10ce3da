import type { components } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type PriceCheck = Schemas['AuditPricesReply']['data'];
export type PriceProblem = Schemas['PriceProblem'];

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
}
