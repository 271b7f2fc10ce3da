import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type AdminDelivery = Schemas['Delivery'];
export type AdminDeliveryPage = Schemas['DeliveryListReply']['data'];
export type AdminDeliveryQuery = NonNullable<operations['searchDeliveries']['parameters']['query']>;

/** The callback deliveries of all users. */
export class AdminDeliveries {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the matching deliveries, newest first. `GET /api/admin/deliveries` */
  list(
    query: AdminDeliveryQuery = {},
    options: CallOptions = {},
  ): PagePromise<AdminDelivery, AdminDeliveryPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('searchDeliveries', { ...options, params: { query: params } })).data;
    });
  }

  /** Resends a delivery now. `POST /api/admin/deliveries/{id}/resend` */
  async resend(id: number, options: CallOptions = {}): Promise<AdminDelivery> {
    return (await this.#caller.call('resendDelivery', { ...options, params: { path: { id } } })).data;
  }
}
