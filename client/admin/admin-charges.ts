import type { components } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { type CreateOptions, withIdempotencyKey } from '../tasks/tasks.ts';

type Schemas = components['schemas'];
export type Charge = Schemas['Charge'];
export type Refund = Schemas['Refund'];
export type NewRefund = Schemas['RefundCallRequest'];

/** Charges of calls and tasks of all users, by request id or task id. */
export class AdminCharges {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Explains why a call or task cost what it cost. `GET /api/admin/charges/{id}` */
  async explain(id: string, options: CallOptions = {}): Promise<Charge> {
    return (await this.#caller.call('explainCharge', { ...options, params: { path: { id } } })).data;
  }

  /** Refunds a settled call or task once. Retries of the request return the same refund. `POST /api/admin/charges/{id}/refund` */
  async refund(id: string, body: NewRefund, options: CreateOptions = {}): Promise<Refund> {
    const init = { ...withIdempotencyKey(options), params: { path: { id } }, body };
    return (await this.#caller.call('refundCall', init)).data;
  }
}
